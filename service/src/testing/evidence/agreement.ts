import { type Evidence, type Finding, gapSentence, STANDINGS, TEXT_FORMATS } from '@rrs/evidence-format';
import { sampleContext } from '@rrs/evidence-format/samples';
import { expect } from 'vitest';
import { renderPdf } from '../../evidence/formats/pdf/report-pdf.ts';
import { pdfText } from './pdf-text.ts';

/** What the formats for programs must say about a finding. Its standing decides, and a false positive has words of its own. */
const SAID = {
  active: { objective: 'not-satisfied', item: 'open', openvex: 'affected', cyclonedx: 'exploitable', sarif: 'fail' },
  excepted: { objective: 'not-satisfied', item: 'open', openvex: 'affected', cyclonedx: 'exploitable', sarif: 'fail' },
  remediated: { objective: 'satisfied', item: 'closed', openvex: 'fixed', cyclonedx: 'resolved', sarif: 'pass' },
  aside: { objective: 'not-satisfied', item: 'closed', openvex: 'under_investigation', cyclonedx: 'in_triage', sarif: 'notApplicable' },
} as const;

const HEADLINES = {
  remediated: 'Remediated',
  partially_remediated: 'Partially remediated',
  risk_accepted: 'Risk accepted, NOT remediated',
  false_positive: 'False positive',
  not_remediated: 'NOT remediated',
} as const;

interface Props {
  props: { name: string; value: string }[];
}
const prop = ({ props }: Props, name: string): string | undefined => props.find((each) => each.name === name)?.value;
const property = ({ properties }: { properties: Props['props'] }, name: string) => prop({ props: properties }, `rrs:${name}`);

export const textOf = (format: keyof typeof TEXT_FORMATS, evidence: Evidence): string => [...TEXT_FORMATS[format].render(evidence, sampleContext)].join('');

export const htmlWords = (evidence: Evidence): string =>
  textOf('html', evidence)
    .replace(/<style>.*?<\/style>/s, '')
    .replace(/<[^>]*>/g, ' ')
    .replace(/&#39;/g, "'")
    .replace(/\s+/g, ' ');

export async function pdfWords(evidence: Evidence): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of renderPdf(evidence, sampleContext)) chunks.push(chunk);
  return pdfText(Buffer.concat(chunks)).flat().join(' ').replace(/\s+/g, ' ');
}

/** Every format for programs says about each finding what follows from its standing, and has the conclusion, the grade and the counts of the package. */
export function expectFormatsAgree(evidence: Evidence): void {
  const { conclusion, findings } = evidence;
  const { grade } = evidence.completeness;
  const { by_standing } = evidence.counts;
  expect(evidence.counts.findings).toBe(findings.length);
  for (const standing of STANDINGS) expect(findings.filter((finding) => finding.standing === standing)).toHaveLength(by_standing[standing]);
  expectReportAgrees(evidence, htmlWords(evidence));
  const rows = textOf('csv', evidence).trimEnd().split('\r\n');
  expect(rows).toHaveLength(findings.length + 1);
  // The other formats cannot be without findings.
  if (findings.length === 0) return;
  const ar = JSON.parse(textOf('oscal-ar', evidence))['assessment-results'];
  const plan = JSON.parse(textOf('oscal-poam', evidence))['plan-of-action-and-milestones'];
  const { statements } = JSON.parse(textOf('openvex', evidence));
  const cyclonedx = JSON.parse(textOf('cyclonedx-vex', evidence));
  const sarif = JSON.parse(textOf('sarif', evidence)).runs[0];
  for (const named of [
    (name: string) => prop(ar.metadata, name),
    (name: string) => prop(plan.metadata, name),
    (name: string) => property(cyclonedx.metadata, name),
  ]) {
    expect([named('conclusion'), named('grade'), named('findings')]).toEqual([conclusion, grade, String(findings.length)]);
    for (const standing of STANDINGS) expect(named(standing)).toBe(String(by_standing[standing]));
  }
  expect(sarif.properties).toMatchObject({ conclusion, grade, findings: findings.length, by_standing });
  const result = ar.results[0];
  const lists = [result.findings, result.risks, plan['poam-items'], statements, cyclonedx.vulnerabilities, sarif.results];
  expect(lists.map((list) => list.length)).toEqual(lists.map(() => findings.length));
  const headings = (rows[0] ?? '').split(',');
  for (const [at, finding] of findings.entries()) {
    const { standing } = finding;
    const vulnerability = cyclonedx.vulnerabilities[at];
    expect({
      objective: result.findings[at].target.status.state,
      item: prop(plan['poam-items'][at], 'item'),
      openvex: statements[at].status,
      cyclonedx: vulnerability.analysis.state,
      sarif: sarif.results[at].kind,
    }).toEqual(saidAbout(finding));
    const standings = [prop(result.findings[at], 'standing'), prop(plan['poam-items'][at], 'standing'), property(vulnerability, 'standing')];
    expect(new Set([...standings, sarif.results[at].properties.standing])).toEqual(new Set([standing]));
    // A label, and what the person said who decided, if somebody did.
    const labels = [statements[at].status_notes, vulnerability.analysis.detail, result.findings[at].target.status.remarks];
    expect(new Set(labels.map((label) => label.split(':')[0])).size).toBe(1);
    expect(sarif.results[at].suppressions?.length ?? 0).toBe(standing === 'excepted' ? 1 : 0);
    expect(result.risks[at].remediations?.length ?? 0).toBe(standing === 'excepted' || standing === 'aside' ? 0 : 1);
    const cells = new Map(cellsOf(rows[at + 1] ?? '').map((cell, column) => [headings[column], cell]));
    expect(cells.get('standing')).toBe(standing);
    const control = finding.acceptance?.compensating_control ?? null;
    expect(cells.get('compensating_control')).toBe(control ?? '');
    expect(result.risks[at]['mitigating-factors']).toEqual(control === null ? undefined : [{ uuid: expect.any(String), description: control }]);
  }
}

function saidAbout({ standing, state }: Pick<Finding, 'standing' | 'state'>) {
  return standing === 'excepted' && state === 'false_positive' ? { ...SAID.excepted, openvex: 'not_affected', cyclonedx: 'not_affected' } : SAID[standing];
}

/** The cells of a line whose quoted cells contain no line breaks. */
function cellsOf(line: string): string[] {
  return [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain ?? '');
}

/** A report for people, as its words, has the conclusion, the grade, the number of findings, the compensating controls and every gap. */
export function expectReportAgrees(evidence: Evidence, words: string): void {
  const { conclusion, completeness, findings, package_id } = evidence;
  for (const part of [HEADLINES[conclusion], `Completeness: grade ${completeness.grade}.`, package_id, sampleContext.sha256.evidence])
    expect(words).toContain(part);
  expect(words).toContain(`Rows in data/findings.csv ${findings.length}`);
  for (const { acceptance } of findings) {
    if (acceptance === null) continue;
    const { compensating_control } = acceptance;
    expect(words).toContain(compensating_control === null ? 'No compensating control named' : `Compensating control: ${compensating_control}`);
  }
  for (const gap of completeness.gaps) expect(words).toContain(gapSentence(gap).split(':')[0]);
}
