import { IDS } from '../../src/testing/sample.ts';
import type { Vector } from '../vector.ts';
import { lie, lieAboutFinding, otherStory } from './lie.ts';

/** What follows from the facts, stated differently. */
export const falseResults: Vector[] = [
  lie('a better conclusion than the findings support', ['conclusion'], (evidence) => {
    evidence.conclusion = 'risk_accepted';
  }),
  lie('grade A although there are gaps', ['grade'], ({ completeness }) => {
    completeness.grade = 'A';
  }),
  lie('a gap is left out, and the grade is better', ['gap_missing', 'grade'], (evidence) => {
    evidence.completeness = { grade: 'A', gaps: [] };
  }),
  lie('a gap is only a note', ['gap_false', 'gap_missing'], ({ completeness }) => {
    for (const gap of completeness.gaps) gap.weight = 'note';
  }),
  lie('a gap concerns something else', ['gap_false', 'gap_missing'], ({ completeness }) => {
    completeness.gaps[0]?.about.push(IDS.artifact);
  }),
  lie('a gap states another number', ['gap_false', 'gap_missing'], ({ completeness }) => {
    Object.assign(completeness.gaps[0]?.values ?? {}, { number: 0 });
  }),
  lie('an invented gap', ['gap_false'], ({ completeness }) => {
    completeness.gaps.push({ code: 'policy_changed', weight: 'note', about: [], values: {} });
  }),
  lie('a gap is listed twice', ['gap_false'], ({ completeness }) => {
    completeness.gaps.push(...completeness.gaps.slice(0, 1));
  }),
  lie('wrong totals', ['counts'], ({ counts }) => {
    counts.by_severity.high = 1;
    counts.by_severity.low = 1;
  }),
  lie('fewer findings than there are', ['counts'], ({ counts }) => {
    counts.findings = 1;
  }),
  lie('a failed check that passed', ['check'], ({ checks }) => {
    for (const check of checks) check.result = check.result === 'pass' ? 'fail' : 'pass';
  }),
  lie('a check of more objects than there are', ['check'], ({ checks }) => {
    for (const check of checks) check.of += 1;
  }),
  lie('a check is left out', ['check'], ({ checks }) => {
    checks.pop();
  }),
  lie(
    'another filter selected the findings',
    ['selection'],
    ({ selections }) => void Object.assign(selections[0] ?? {}, { filter: { severity: ['critical'] } }),
  ),
  lie('an invented decision', ['decision'], ({ decisions }) => {
    decisions.push({
      trail_seq: 1,
      kind: 'withdraw',
      at: '2026-01-02T10:00:00.000Z',
      by: { person: null, name: 'Nobody' },
      object: { type: 'finding', id: IDS.findings[0] },
      before: null,
      after: null,
      reason: null,
      findings: { count: 0, by_severity: { critical: 0, high: 0, medium: 0, low: 0, info: 0, unknown: 0 }, ids: [] },
      second_person: null,
      import_id: null,
    });
  }),
  lie('another verdict on a control', ['control'], ({ controls }) => {
    controls.push({ framework: 'Own', control: '1', title: 'Everything is fine', verdict: 'supports', evidence: [] });
  }),
  lieAboutFinding('a finding counts as an exception', ['standing'], { standing: 'excepted' }),
  lieAboutFinding('a scan of the worker is called a pipeline', ['provenance'], { provenance: 'pipeline' }),
  lieAboutFinding('a later deadline', ['due'], { due_at: '2030-01-01T00:00:00.000Z' }),
  lieAboutFinding('no deadline', ['due'], { due_at: null, within_sla: null }),
  lieAboutFinding('late although it was in time', ['due'], { within_sla: false }),
  otherStory('data/findings.csv', (text) => text.replace('OpenSSL 1', 'Nothing')),
  otherStory('data/report.html', (text) => text.replace('OpenSSL 1', 'Nothing')),
  otherStory('data/formats/oscal-assessment-results.json', (text) => text.replace('OpenSSL 1', 'Nothing')),
  otherStory('data/formats/oscal-poam.json', (text) => text.replace('OpenSSL 1', 'Nothing')),
  otherStory('data/formats/openvex.json', (text) => text.replace('fixed', 'not_affected')),
  otherStory('data/formats/cyclonedx-vex.json', (text) => text.replace('resolved', 'not_affected')),
  otherStory('data/formats/results.sarif', (text) => text.replace('OpenSSL 1', 'Nothing')),
  otherStory('data/schemas/evidence-package-v2.schema.json', (text) => text.replace('Remediation', 'Other')),
  otherStory('README.txt', (text) => text.replace('B (only minor gaps)', 'A (nothing is missing)')),
  otherStory('bag-info.txt', (text) => text.replace('Acme', 'Another company')),
];
