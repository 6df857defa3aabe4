import type { Observation } from '../contract.ts';

/** An entry of the corpus index: expected counts of a file, and facts of single findings. */
export interface OracleEntry {
  file: string;
  format: string;
  mode?: string;
  parser_args?: unknown;
  findings: number | null;
  findings_min?: number;
  findings_observed?: number;
  raw_items: number | null;
  expects_error: boolean;
  error_observed?: unknown;
  examples: OracleExample[];
}

export interface OracleExample {
  index?: number | string;
  severity?: string;
  vulnerability_ids?: string[];
  cwe?: number | null;
  cwes?: number[] | null;
  component_name?: string | null;
  component_version?: string | null;
  file_path?: string | null;
  line?: number | null;
  endpoints?: { host?: string; port?: number; as_text?: string }[];
}

type Check = (observation: Observation) => boolean;

/** Returns a check for each fact of an example. */
function checksOf(example: OracleExample, ignored: ReadonlySet<string>): Record<string, Check> {
  const checks: Record<string, Check> = {};
  const ids = (example.vulnerability_ids ?? []).filter((id) => /^(?:CVE|GHSA)-/i.test(id)).map((id) => id.toUpperCase());
  if (example.severity)
    checks.severity = ({ severity }) => severity === example.severity?.toLowerCase() || (severity === 'unknown' && example.severity === 'Info');
  if (ids.length > 0) checks.vulnerability_ids = (found) => ids.every((id) => found.vulnerability_ids.some((own) => own.toUpperCase() === id));
  if (example.cwe) checks.cwe = ({ cwes }) => cwes.includes(example.cwe as number);
  if (example.component_name) checks.component_name = ({ location }) => sameName(location.component, example.component_name as string);
  if (example.component_version) checks.component_version = ({ location }) => location.version === example.component_version;
  if (example.file_path) checks.file_path = ({ location }) => samePath(location.path, example.file_path as string);
  if (example.line) checks.line = ({ location }) => location.line === example.line;
  const hosts = (example.endpoints ?? []).flatMap(({ host }) => (host ? [host.toLowerCase()] : []));
  if (hosts.length > 0) checks.host = (found) => hosts.some((host) => namesOf(found).some((name) => name.includes(host)));
  for (const field of ignored) delete checks[field];
  return checks;
}

function sameName(own: string | undefined, expected: string): boolean {
  return own === expected || (own !== undefined && (own.endsWith(`/${expected}`) || own.endsWith(`:${expected}`) || expected.endsWith(own)));
}

function samePath(own: string | undefined, expected: string): boolean {
  const path = expected.replaceAll('\\', '/').replace(/^file:\/\//, '');
  return own !== undefined && (own === path || own.endsWith(path) || path.endsWith(own));
}

function namesOf({ asset, location }: Observation): string[] {
  return [asset?.name, ...(asset?.identifiers ?? []).map(({ value }) => value), location.url, location.resource].flatMap((name) => name?.toLowerCase() ?? []);
}

/** Returns null if an observation has all facts of the example. Otherwise returns the facts that the closest observation lacks. */
export function missingFacts(example: OracleExample, observations: readonly Observation[], ignored: ReadonlySet<string>): string[] | null {
  const checks = Object.entries(checksOf(example, ignored));
  let closest: string[] | null = checks.map(([field]) => field);
  for (const found of observations) {
    const lacking = checks.filter(([, check]) => !check(found)).map(([field]) => field);
    if (lacking.length === 0) return null;
    if (closest === null || lacking.length < closest.length) closest = lacking;
  }
  return checks.length === 0 ? null : closest;
}
