import { expect, test } from 'vitest';
import type { Conclusion } from '../document/evidence.ts';
import type { FindingFacts } from '../document/finding.ts';
import type { FindingState, Standing } from '../document/states.ts';
import { findingFacts, IDS, id, on, scanFacts } from '../testing/sample-facts.ts';
import { concludeFrom, gradeOf } from './conclude.ts';
import { standingFacts, standingOf } from './standing.ts';

const facts = standingFacts({ scans: [scanFacts('before'), scanFacts('after')], sources: [] });
const occurrence = (source: string, state: 'absent' | 'present' | 'unknown') => ({
  place: 'a',
  component_version: null,
  state,
  source,
  track: 'main',
  first_seen: on('03-01'),
  last_seen: on('03-01'),
});

const standings: [string, Partial<FindingFacts>, Standing][] = [
  ['verified by a scan', {}, 'remediated'],
  ['verified by a scan without a claim', { assurance: 'scan_only', claimed_at: null }, 'remediated'],
  [
    'verified by a second person',
    { cause: 'second_person', assurance: 'independent', after: { state: 'unknown', scan: null, others: [], doubts: [] } },
    'remediated',
  ],
  ['verified by one person', { cause: 'person', assurance: 'independent' }, 'active'],
  ['declared fixed by the source', { assurance: 'declared' }, 'active'],
  ['verified with an artifact', { cause: 'second_person', assurance: 'artifact' }, 'active'],
  ['verified without any assurance', { assurance: null }, 'active'],
  ['verified by a scan that still shows it', { after: { state: 'present', scan: IDS.after, others: [], doubts: [] } }, 'active'],
  ['verified by a scan that says nothing', { after: { state: 'unknown', scan: null, others: [], doubts: [] } }, 'active'],
  ['verified by the scan that showed it', { after: { state: 'absent', scan: IDS.before, others: [], doubts: [] } }, 'active'],
  ['contradicted', { contradicted_by: id(60) }, 'active'],
  ['in a version that was not scanned again', { version_rescanned: false }, 'active'],
  ['in a version that was scanned again', { version_rescanned: true }, 'remediated'],
  ['merged with a fixed one', { merged: [{ id: id(150), state: 'verified', title: 'Merged', severity: 'high' }] }, 'remediated'],
  ['merged with an open one', { merged: [{ id: id(150), state: 'in_progress', title: 'Merged', severity: 'high' }] }, 'excepted'],
  ['claimed', { state: 'remediated', assurance: 'declared' }, 'active'],
  ['open', { state: 'open', assurance: null, cause: 'none' }, 'active'],
  ['accepted', { state: 'risk_accepted' }, 'excepted'],
  ['dismissed', { state: 'false_positive' }, 'excepted'],
  ['withdrawn by its source', { state: 'withdrawn', cause: 'source' }, 'aside'],
  ['withdrawn by a person', { state: 'withdrawn', cause: 'person' }, 'excepted'],
  ['on a retired asset', { state: 'withdrawn', cause: 'asset_retired' }, 'excepted'],
  ['on an asset that is gone', { state: 'withdrawn', cause: 'asset_gone' }, 'excepted'],
  ['on a track that ended', { state: 'withdrawn', cause: 'track_ended' }, 'excepted'],
];

test.each(standings)('a finding that is %s', (_, overrides, standing) => {
  expect(standingOf(findingFacts(1, overrides), facts)).toBe(standing);
});

const removedSource = standingFacts({
  scans: [scanFacts('before'), scanFacts('after')],
  sources: [{ asset_id: IDS.asset, source: 'other', removed_at: on('03-09') }],
});

test.each([
  ['saw it last', [occurrence('other', 'unknown')], 1, 'active'],
  ['no longer saw it', [occurrence('other', 'absent')], 1, 'remediated'],
  ['may have seen it at places that are not listed', [occurrence('other', 'absent')], 101, 'active'],
  ['has no place in the list', [occurrence('scanner', 'absent')], 1, 'active'],
] as const)('a removed source that %s', (_, occurrences, occurrence_count, standing) => {
  expect(standingOf(findingFacts(1, { sources: ['other'], occurrences: [...occurrences], occurrence_count }), removedSource)).toBe(standing);
});

test('a report that does not describe itself or repeats an earlier one proves nothing', () => {
  for (const overrides of [{ self_described: true }, { copy_of: IDS.before }]) {
    const weak = standingFacts({ scans: [scanFacts('before'), scanFacts('after', overrides)], sources: [] });
    expect(standingOf(findingFacts(1), weak)).toBe('active');
    const person = findingFacts(1, { cause: 'second_person', assurance: 'independent' });
    expect(standingOf(person, weak)).toBe('remediated');
  }
});

const conclusions: [[Standing, FindingState][], Conclusion][] = [
  [[], 'not_remediated'],
  [[['remediated', 'verified']], 'remediated'],
  [
    [
      ['remediated', 'verified'],
      ['aside', 'withdrawn'],
    ],
    'remediated',
  ],
  [[['aside', 'withdrawn']], 'not_remediated'],
  [
    [
      ['remediated', 'verified'],
      ['excepted', 'withdrawn'],
    ],
    'partially_remediated',
  ],
  [
    [
      ['remediated', 'verified'],
      ['excepted', 'risk_accepted'],
    ],
    'partially_remediated',
  ],
  [
    [
      ['remediated', 'verified'],
      ['active', 'open'],
    ],
    'partially_remediated',
  ],
  [
    [
      ['remediated', 'verified'],
      ['active', 'verified'],
      ['excepted', 'risk_accepted'],
    ],
    'partially_remediated',
  ],
  [
    [
      ['active', 'verified'],
      ['excepted', 'risk_accepted'],
    ],
    'not_remediated',
  ],
  [
    [
      ['excepted', 'risk_accepted'],
      ['excepted', 'false_positive'],
      ['aside', 'withdrawn'],
    ],
    'risk_accepted',
  ],
  [
    [
      ['excepted', 'false_positive'],
      ['aside', 'withdrawn'],
    ],
    'false_positive',
  ],
  [
    [
      ['excepted', 'false_positive'],
      ['excepted', 'withdrawn'],
    ],
    'not_remediated',
  ],
  [[['excepted', 'verified']], 'not_remediated'],
];

test.each(conclusions)('%j leads to the conclusion %s', (findings, conclusion) => {
  expect(concludeFrom(findings.map(([standing, state]) => ({ standing, state })))).toBe(conclusion);
});

test('the grade depends on the number of kinds of major gaps, and notes have no effect', () => {
  expect(gradeOf([{ code: 'policy_changed', weight: 'note' }])).toBe('A');
  expect(gradeOf([{ code: 'no_timestamp', weight: 'minor' }])).toBe('B');
  const lowered = { code: 'severity_lowered', weight: 'major' } as const;
  expect(gradeOf([lowered, lowered, { code: 'no_artifact', weight: 'minor' }])).toBe('C');
  expect(gradeOf([lowered, { code: 'unfinished', weight: 'major' }])).toBe('D');
});
