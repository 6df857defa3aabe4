import type { Observation } from '../contract.ts';

/** What the corpus says of its files: counts, and facts of single findings to be found by content. */
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

/** The facts of an example that a report can be asked for, each with its check. */
function checksOf(example: OracleExample, leftOut: ReadonlySet<string>): Record<string, Check> {
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
  for (const field of leftOut) delete checks[field];
  return checks;
}

function sameName(own: string | undefined, peer: string): boolean {
  return own === peer || (own !== undefined && (own.endsWith(`/${peer}`) || own.endsWith(`:${peer}`) || peer.endsWith(own)));
}

function samePath(own: string | undefined, peer: string): boolean {
  const path = peer.replaceAll('\\', '/').replace(/^file:\/\//, '');
  return own !== undefined && (own === path || own.endsWith(path) || path.endsWith(own));
}

function namesOf({ asset, location }: Observation): string[] {
  return [asset?.name, ...(asset?.identifiers ?? []).map(({ value }) => value), location.url, location.resource].flatMap((name) => name?.toLowerCase() ?? []);
}

/** Null: an observation has all the facts of the example; else the facts that the nearest one lacks. */
export function missing(example: OracleExample, observations: readonly Observation[], leftOut: ReadonlySet<string>): string[] | null {
  const checks = Object.entries(checksOf(example, leftOut));
  let nearest: string[] | null = checks.map(([field]) => field);
  for (const found of observations) {
    const lacking = checks.filter(([, check]) => !check(found)).map(([field]) => field);
    if (lacking.length === 0) return null;
    if (nearest === null || lacking.length < nearest.length) nearest = lacking;
  }
  return checks.length === 0 ? null : nearest;
}
