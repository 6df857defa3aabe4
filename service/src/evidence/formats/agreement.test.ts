import { CONCLUSIONS, type Evidence, type Finding, STANDINGS } from '@rrs/evidence-format';
import { evidenceSamples, sampleEvidence, sampleFinding } from '@rrs/evidence-format/samples';
import { describe, expect, it } from 'vitest';
import { expectFormatsAgree, expectReportAgrees, htmlWords, pdfWords, textOf } from '../../testing/evidence/agreement.ts';

type Way = Pick<Finding, 'standing' | 'state' | 'cause'>;
/** Every way in which a finding can stand, and what it is called. */
const ways: [label: string, way: Way][] = [
  ['Open', { standing: 'active', state: 'open', cause: 'none' }],
  ['In progress', { standing: 'active', state: 'in_progress', cause: 'none' }],
  ['Claimed, not verified', { standing: 'active', state: 'remediated', cause: 'person' }],
  ['Closed, not proven', { standing: 'active', state: 'verified', cause: 'person' }],
  ['Closed, not proven', { standing: 'active', state: 'verified', cause: 'scan' }],
  ['Risk accepted', { standing: 'excepted', state: 'risk_accepted', cause: 'person' }],
  ['False positive', { standing: 'excepted', state: 'false_positive', cause: 'person' }],
  ['Withdrawn by a person', { standing: 'excepted', state: 'withdrawn', cause: 'person' }],
  ['Asset retired', { standing: 'excepted', state: 'withdrawn', cause: 'asset_retired' }],
  ['Asset gone', { standing: 'excepted', state: 'withdrawn', cause: 'asset_gone' }],
  ['Version retired', { standing: 'excepted', state: 'withdrawn', cause: 'track_ended' }],
  ['Merged by a person', { standing: 'excepted', state: 'withdrawn', cause: 'merged' }],
  ['Merged by a person', { standing: 'excepted', state: 'verified', cause: 'scan' }],
  ['Fixed, shown by a scan', { standing: 'remediated', state: 'verified', cause: 'scan' }],
  ['Fixed, confirmed by a person', { standing: 'remediated', state: 'verified', cause: 'second_person' }],
  ['Withdrawn by its source', { standing: 'aside', state: 'withdrawn', cause: 'source' }],
];

describe('one finding', () => {
  it('of every standing is in this test', () => {
    expect(new Set(ways.map(([, { standing }]) => standing))).toEqual(new Set(STANDINGS));
  });

  it.each(ways)('%s: every format says the same (%o)', (label, way) => {
    const evidence = sampleEvidence({ findings: [sampleFinding(1, way)] });
    expectFormatsAgree(evidence);
    expect(JSON.parse(textOf('openvex', evidence)).statements[0].status_notes).toBe(label);
  });

  it('has the same outcome in both reports', async () => {
    const findings = ways.map(([, way], index) => sampleFinding(index + 1, { ...way, title: `Title${index + 1}.` }));
    const evidence = sampleEvidence({ findings });
    for (const text of [htmlWords(evidence), await pdfWords(evidence)]) {
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

it('every format says which compensating control was named, if one was', async () => {
  const [first] = evidenceSamples.exceptions().findings;
  if (!first?.acceptance) throw new Error('nothing is accepted');
  for (const compensating_control of [first.acceptance.compensating_control, null]) {
    const evidence = sampleEvidence({ findings: [{ ...first, acceptance: { ...first.acceptance, compensating_control } }] });
    expectFormatsAgree(evidence);
    expectReportAgrees(evidence, await pdfWords(evidence));
  }
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

  it.each(CONCLUSIONS)('%s: every format has the same conclusion, grade, counts and findings', async (conclusion) => {
    const evidence = packages[conclusion]();
    expect(evidence.conclusion).toBe(conclusion);
    expectFormatsAgree(evidence);
    expectReportAgrees(evidence, await pdfWords(evidence));
  });
});
