import type { ListedFinding, Severity } from '@rrs/client';
import { findingColumns, placeOf } from './commands/findings.ts';
import { painter, printable, type Terminal, table } from './terminal.ts';

export interface Verdict {
  passed: boolean;
  /** How many findings were looked at. */
  considered: number;
  failing: readonly ListedFinding[];
  /** What fails: severities, and `kev`. */
  reasons: readonly string[];
  /** Address of the service, for links. */
  url: string;
}

const MOST_LINKS = 10;
const linkOf = ({ url }: Verdict, { id }: ListedFinding): string => `${url}/findings/${id}`;

const formats = {
  table: (verdict: Verdict, terminal: Terminal): string => {
    const word = painter(terminal)(verdict.passed ? 'passed' : 'failed', verdict.passed ? 'green' : 'red');
    const rows = verdict.passed ? '' : table(verdict.failing, findingColumns, terminal);
    const links = verdict.failing.slice(0, MOST_LINKS).map((finding) => `  ${linkOf(verdict, finding)}\n`);
    return `${rows}${links.join('')}Gate ${word}: ${sentence(verdict)}\n`;
  },
  json,
  markdown,
  junit,
  sarif,
};

export const GATE_FORMATS = Object.keys(formats) as (keyof typeof formats)[];

export function render(format: keyof typeof formats, verdict: Verdict, terminal: Terminal): string {
  return formats[format](verdict, terminal);
}

function sentence({ failing, considered, reasons }: Verdict): string {
  if (considered === 0) return 'there are no open findings to decide on.';
  const findings = considered === 1 ? '1 open finding' : `${considered} open findings`;
  return `${failing.length} of ${findings} ${failing.length === 1 ? 'is' : 'are'} ${alternatives(reasons.map((reason) => NAMES[reason] ?? reason))}.`;
}

const NAMES: Readonly<Record<string, string>> = { kev: 'known to be exploited' };

/** "critical, high or low". */
function alternatives(names: readonly string[]): string {
  return [names.slice(0, -1).join(', '), ...names.slice(-1)].filter(Boolean).join(' or ');
}

const nameOf = ({ vulnerability_ids, rule }: ListedFinding): string => vulnerability_ids[0] ?? rule ?? 'finding';

function json(verdict: Verdict): string {
  const { url: _, failing, ...rest } = verdict;
  return `${JSON.stringify({ ...rest, failing: failing.map((finding) => ({ ...finding, link: linkOf(verdict, finding) })) }, null, 2)}\n`;
}

/** For the summary page of a job. */
function markdown(verdict: Verdict): string {
  const cell = (text: string): string => printable(text).replaceAll(/[\\`*_{}[\]<>()#+!|~-]/g, '\\$&');
  const rows = verdict.failing.map((finding) => {
    const [severity, name, title, asset, place] = [finding.severity, nameOf(finding), finding.title, finding.asset.name, placeOf(finding)].map(cell);
    return `| ${severity} | [${name}](${linkOf(verdict, finding)}) | ${title} | ${asset} | ${place} |`;
  });
  const lines = rows.length === 0 ? [] : ['', '| severity | vulnerability | title | asset | location |', '| --- | --- | --- | --- | --- |', ...rows];
  return `${[`**Gate ${verdict.passed ? 'passed' : 'failed'}**: ${sentence(verdict)}`, ...lines].join('\n')}\n`;
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&apos;' };
const xml = (text: string): string => printable(text).replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? '');

/** Each failing finding is a failed test. */
function junit(verdict: Verdict): string {
  const { failing, passed } = verdict;
  const cases = failing.map(
    (finding) =>
      `    <testcase classname="${xml(finding.asset.name)}" name="${xml(`${nameOf(finding)} ${finding.title}`)}"><failure type="${finding.severity}" message="${xml(finding.title)}">${xml(`${placeOf(finding)} ${linkOf(verdict, finding)}`)}</failure></testcase>`,
  );
  const all = passed ? ['    <testcase classname="rrs" name="gate"/>'] : cases;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<testsuites>',
    `  <testsuite name="rrs gate" tests="${all.length}" failures="${failing.length}">`,
    ...all,
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n');
}

const LEVELS: Readonly<Record<Severity, string>> = { critical: 'error', high: 'error', medium: 'warning', low: 'note', info: 'note', unknown: 'warning' };

/** SARIF 2.1.0, for code scanning pages. */
function sarif(verdict: Verdict): string {
  const { failing } = verdict;
  const rules = new Map(failing.map((finding) => [nameOf(finding), { id: nameOf(finding), shortDescription: { text: finding.title } }]));
  const results = failing.map((finding) => ({
    ruleId: nameOf(finding),
    level: LEVELS[finding.severity],
    message: { text: [finding.title, placeOf(finding)].filter(Boolean).join(': ') },
    locations: [{ physicalLocation: { artifactLocation: { uri: encodeURI(finding.location.path ?? finding.asset.name) }, ...regionOf(finding) } }],
    partialFingerprints: { 'rrs/v1': finding.id },
    hostedViewerUri: linkOf(verdict, finding),
  }));
  const driver = { name: 'rrs gate', rules: [...rules.values()] };
  return `${JSON.stringify({ $schema: 'https://json.schemastore.org/sarif-2.1.0.json', version: '2.1.0', runs: [{ tool: { driver }, results }] }, null, 2)}\n`;
}

function regionOf({ location }: ListedFinding): { region?: { startLine: number } } {
  return location.line ? { region: { startLine: location.line } } : {};
}
