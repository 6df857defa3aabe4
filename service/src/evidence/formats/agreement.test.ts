import { CONCLUSIONS, type Evidence, type Finding, gapSentence, STANDINGS, TEXT_FORMATS } from '@rrs/evidence-format';
import { evidenceSamples, sampleContext, sampleEvidence, sampleFinding } from '@rrs/evidence-format/samples';
import { describe, expect, it } from 'vitest';
import { pdfText } from '../../testing/evidence/pdf-text.ts';
import { renderPdf } from './pdf/report-pdf.ts';

/** Every way in which a finding can stand, and what each format must say about it. */
const open = { objective: 'not-satisfied', item: 'open', openvex: 'affected', cyclonedx: 'exploitable', sarif: 'fail' };
const exception = { ...open };
const fixed = { objective: 'satisfied', item: 'closed', openvex: 'fixed', cyclonedx: 'resolved', sarif: 'pass' };
type Way = Pick<Finding, 'standing' | 'state' | 'cause'>;
const ways: [label: string, way: Way, said: typeof open][] = [
  ['Open', { standing: 'active', state: 'open', cause: 'none' }, open],
  ['In progress', { standing: 'active', state: 'in_progress', cause: 'none' }, open],
  ['Claimed, not verified', { standing: 'active', state: 'remediated', cause: 'person' }, open],
  ['Closed, not proven', { standing: 'active', state: 'verified', cause: 'person' }, open],
  ['Closed, not proven', { standing: 'active', state: 'verified', cause: 'scan' }, open],
  ['Risk accepted', { standing: 'excepted', state: 'risk_accepted', cause: 'person' }, exception],
  ['False positive', { standing: 'excepted', state: 'false_positive', cause: 'person' }, { ...exception, openvex: 'not_affected', cyclonedx: 'not_affected' }],
  ['Withdrawn by a person', { standing: 'excepted', state: 'withdrawn', cause: 'person' }, exception],
  ['Asset retired', { standing: 'excepted', state: 'withdrawn', cause: 'asset_retired' }, exception],
  ['Asset gone', { standing: 'excepted', state: 'withdrawn', cause: 'asset_gone' }, exception],
  ['Version retired', { standing: 'excepted', state: 'withdrawn', cause: 'track_ended' }, exception],
  ['Merged by a person', { standing: 'excepted', state: 'withdrawn', cause: 'merged' }, exception],
  ['Merged by a person', { standing: 'excepted', state: 'verified', cause: 'scan' }, exception],
  ['Fixed, shown by a scan', { standing: 'remediated', state: 'verified', cause: 'scan' }, fixed],
  ['Fixed, confirmed by a person', { standing: 'remediated', state: 'verified', cause: 'second_person' }, fixed],
  [
    'Withdrawn by its source',
    { standing: 'aside', state: 'withdrawn', cause: 'source' },
    { objective: 'not-satisfied', item: 'closed', openvex: 'under_investigation', cyclonedx: 'in_triage', sarif: 'notApplicable' },
  ],
];

const textOf = (format: keyof typeof TEXT_FORMATS, evidence: Evidence): string => [...TEXT_FORMATS[format].render(evidence, sampleContext)].join('');

async function pdfOf(evidence: Evidence): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of renderPdf(evidence, sampleContext)) chunks.push(chunk);
  const pages = pdfText(Buffer.concat(chunks));
  return pages.flat().join(' ').replace(/\s+/g, ' ');
}

const wordsOf = (html: string): string =>
  html
    .replace(/<style>.*?<\/style>/s, '')
    .replace(/<[^>]*>/g, ' ')
    .replace(/&#39;/g, "'")
    .replace(/\s+/g, ' ');

interface Props {
  props: { name: string; value: string }[];
}
const prop = ({ props }: Props, name: string): string | undefined => props.find((each) => each.name === name)?.value;
const property = ({ properties }: { properties: Props['props'] }, name: string) => prop({ props: properties }, `rrs:${name}`);

describe('one finding', () => {
  it('of every standing is in this test', () => {
    expect(new Set(ways.map(([, { standing }]) => standing))).toEqual(new Set(STANDINGS));
  });

  it.each(ways)('%s: every format says the same (%o)', async (label, way, said) => {
    const evidence = sampleEvidence({ findings: [sampleFinding(1, way)] });
    const [result] = JSON.parse(textOf('oscal-ar', evidence))['assessment-results'].results;
    const plan = JSON.parse(textOf('oscal-poam', evidence))['plan-of-action-and-milestones'];
    const [statement] = JSON.parse(textOf('openvex', evidence)).statements;
    const [vulnerability] = JSON.parse(textOf('cyclonedx-vex', evidence)).vulnerabilities;
    const [sarif] = JSON.parse(textOf('sarif', evidence)).runs[0].results;
    expect({
      objective: result.findings[0].target.status.state,
      item: prop(plan['poam-items'][0], 'item'),
      openvex: statement.status,
      cyclonedx: vulnerability.analysis.state,
      sarif: sarif.kind,
    }).toEqual(said);
    const standings = [
      prop(result.findings[0], 'standing'),
      prop(plan['poam-items'][0], 'standing'),
      property(vulnerability, 'standing'),
      sarif.properties.standing,
    ];
    expect(new Set(standings)).toEqual(new Set([way.standing]));
    expect([statement.status_notes, vulnerability.analysis.detail, result.findings[0].target.status.remarks]).toEqual([label, label, label]);
    const [header = '', row = ''] = textOf('csv', evidence).split('\r\n');
    expect(row.split(',')[header.split(',').indexOf('standing')]).toBe(way.standing);
    const isException = way.standing === 'excepted';
    expect(sarif.suppressions?.length ?? 0).toBe(isException ? 1 : 0);
    expect(result.risks[0].remediations?.length ?? 0).toBe(isException || way.standing === 'aside' ? 0 : 1);
  });

  it('has the same outcome in both reports', async () => {
    const findings = ways.map(([, way], index) => sampleFinding(index + 1, { ...way, title: `Title${index + 1}.` }));
    const evidence = sampleEvidence({ findings });
    for (const text of [wordsOf(textOf('html', evidence)), await pdfOf(evidence)]) {
      const [, listed = ''] = /S1, S2 and so on are listed(.*)No risk owner, no end/.exec(text) ?? [];
      const [all = '', exceptions = ''] = listed.split(/ Exceptions .*?Decided by \(UTC\)/);
      for (const [index, [label, { standing }]] of ways.entries()) {
        const row = new RegExp(`Title${index + 1}\\.(.*?)(?=Title\\d|$)`);
        expect(row.exec(all)?.[1], `${label} ${index}`).toContain(label);
        expect(text.match(new RegExp(`Title${index + 1}\\.`, 'g'))).toHaveLength(standing === 'excepted' ? 2 : 1);
      }
      expect(exceptions).not.toBe('');
    }
  });
});

describe('one package', () => {
  const one = (index: number, way: Way) => sampleFinding(index, way);
  const find = (label: string): Way => ways.find(([each]) => each === label)?.[1] ?? { standing: 'active', state: 'open', cause: 'none' };
  const packages: Record<(typeof CONCLUSIONS)[number], () => Evidence> = {
    remediated: () => sampleEvidence({ findings: [one(1, find('Fixed, shown by a scan')), one(2, find('Withdrawn by its source'))] }),
    partially_remediated: () => evidenceSamples.whitewashed(),
    risk_accepted: () => sampleEvidence({ findings: [one(1, find('Risk accepted')), one(2, find('False positive'))] }),
    false_positive: () => sampleEvidence({ findings: [one(1, find('False positive'))] }),
    not_remediated: () => sampleEvidence({ findings: [one(1, find('Asset retired')), one(2, find('Risk accepted'))] }),
  };
  const headlines = {
    remediated: 'Remediated',
    partially_remediated: 'Partially remediated',
    risk_accepted: 'Risk accepted, NOT remediated',
    false_positive: 'False positive',
    not_remediated: 'NOT remediated',
  };

  it.each(CONCLUSIONS)('%s: every format has the same conclusion, grade, counts and findings', async (conclusion) => {
    const evidence = packages[conclusion]();
    const { grade } = evidence.completeness;
    const { findings, by_standing } = evidence.counts;
    expect(evidence.conclusion).toBe(conclusion);
    const ar = JSON.parse(textOf('oscal-ar', evidence))['assessment-results'];
    const plan = JSON.parse(textOf('oscal-poam', evidence))['plan-of-action-and-milestones'];
    const cyclonedx = JSON.parse(textOf('cyclonedx-vex', evidence));
    const sarif = JSON.parse(textOf('sarif', evidence)).runs[0];
    for (const named of [
      (name: string) => prop(ar.metadata, name),
      (name: string) => prop(plan.metadata, name),
      (name: string) => property(cyclonedx.metadata, name),
    ]) {
      expect([named('conclusion'), named('grade'), named('findings')]).toEqual([conclusion, grade, String(findings)]);
      for (const standing of STANDINGS) expect(named(standing)).toBe(String(by_standing[standing]));
    }
    expect(sarif.properties).toMatchObject({ conclusion, grade, findings, by_standing });
    const lists = [
      ar.results[0].findings,
      ar.results[0].risks,
      plan['poam-items'],
      JSON.parse(textOf('openvex', evidence)).statements,
      cyclonedx.vulnerabilities,
      sarif.results,
    ];
    expect(lists.map((list) => list.length)).toEqual(lists.map(() => findings));
    const satisfied = ar.results[0].findings.filter(({ target }: { target: { status: { state: string } } }) => target.status.state === 'satisfied').length;
    expect(satisfied).toBe(by_standing.remediated);
    expect(textOf('csv', evidence).trimEnd().split('\r\n')).toHaveLength(findings + 1);
    for (const text of [wordsOf(textOf('html', evidence)), await pdfOf(evidence)]) {
      for (const part of [headlines[conclusion], `Completeness: grade ${grade}.`, evidence.package_id, sampleContext.sha256.evidence])
        expect(text).toContain(part);
      expect(text).toContain(`Rows in data/findings.csv ${findings}`);
      for (const gap of evidence.completeness.gaps) expect(text).toContain(gapSentence(gap).split(':')[0]);
    }
  });
});
