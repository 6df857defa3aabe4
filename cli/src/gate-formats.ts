import type { ListedFinding, Severity } from '@rrs/client';
import { findingColumns } from './commands/findings.ts';
import { painter, printable, type Terminal, table } from './terminal.ts';

export interface Verdict {
  passed: boolean;
  /** How many findings were looked at. */
  considered: number;
  failing: readonly ListedFinding[];
  /** What fails: severities, and `kev`. */
  reasons: readonly string[];
}

const formats = {
  table: (verdict: Verdict, terminal: Terminal): string => {
    const word = painter(terminal)(verdict.passed ? 'passed' : 'failed', verdict.passed ? 'green' : 'red');
    const rows = verdict.passed ? '' : table(verdict.failing, findingColumns, terminal);
    return `${rows}Gate ${word}: ${sentence(verdict)}\n`;
  },
  json: (verdict: Verdict): string => `${JSON.stringify(verdict, null, 2)}\n`,
  markdown,
  junit,
  sarif,
};

export const GATE_FORMATS = Object.keys(formats) as (keyof typeof formats)[];

export function render(format: keyof typeof formats, verdict: Verdict, terminal: Terminal): string {
  return formats[format](verdict, terminal);
}

function sentence({ failing, considered, reasons }: Verdict): string {
  const findings = considered === 1 ? '1 open finding' : `${considered} open findings`;
  return `${failing.length} of ${findings} ${failing.length === 1 ? 'is' : 'are'} ${reasons.join(' or ')}.`;
}

const nameOf = ({ vulnerability_ids, rule }: ListedFinding): string => vulnerability_ids[0] ?? rule ?? 'finding';

function placeOf({ location }: ListedFinding): string {
  const { path, component, version, url } = location;
  return [path, component && `${component} ${version ?? ''}`.trim(), url].filter(Boolean).join(', ');
}

/** For the summary page of a job. */
function markdown(verdict: Verdict): string {
  const cell = (text: string): string => printable(text).replaceAll(/[\\`*_{}[\]<>()#+!|~-]/g, '\\$&');
  const rows = verdict.failing.map((finding) => {
    const cells = [finding.severity, nameOf(finding), finding.title, finding.asset.name, placeOf(finding)];
    return `| ${cells.map(cell).join(' | ')} |`;
  });
  const lines = rows.length === 0 ? [] : ['', '| severity | vulnerability | title | asset | place |', '| --- | --- | --- | --- | --- |', ...rows];
  return `${[`**Gate ${verdict.passed ? 'passed' : 'failed'}**: ${sentence(verdict)}`, ...lines].join('\n')}\n`;
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&apos;' };
const xml = (text: string): string => printable(text).replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? '');

/** Each failing finding is a failed test. */
function junit({ failing, passed }: Verdict): string {
  const cases = failing.map(
    (finding) =>
      `    <testcase classname="${xml(finding.asset.name)}" name="${xml(`${nameOf(finding)} ${finding.title}`)}"><failure type="${finding.severity}" message="${xml(finding.title)}">${xml(placeOf(finding))}</failure></testcase>`,
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
function sarif({ failing }: Verdict): string {
  const rules = new Map(failing.map((finding) => [nameOf(finding), { id: nameOf(finding), shortDescription: { text: finding.title } }]));
  const results = failing.map((finding) => ({
    ruleId: nameOf(finding),
    level: LEVELS[finding.severity],
    message: { text: [finding.title, placeOf(finding)].filter(Boolean).join(': ') },
    locations: [{ physicalLocation: { artifactLocation: { uri: encodeURI(finding.location.path ?? finding.asset.name) }, ...regionOf(finding) } }],
    partialFingerprints: { 'rrs/v1': finding.id },
  }));
  const driver = { name: 'rrs gate', rules: [...rules.values()] };
  return `${JSON.stringify({ $schema: 'https://json.schemastore.org/sarif-2.1.0.json', version: '2.1.0', runs: [{ tool: { driver }, results }] }, null, 2)}\n`;
}

function regionOf({ location }: ListedFinding): { region?: { startLine: number } } {
  return location.line ? { region: { startLine: location.line } } : {};
}
