import fc from 'fast-check';
import { expect, test } from 'vitest';
import { validate } from '../json/validate.ts';
import { findingSchema } from '../schema/finding.ts';
import { evidenceSchema } from '../schema/schema.ts';
import { all, change, facts, routes } from '../testing/flattering-routes.ts';
import { ada, type Case, codesOf, derived, grace, on } from '../testing/sample-facts.ts';

test('an honest case is remediated with grade A and supports every control', () => {
  const evidence = derived();
  expect(codesOf(evidence)).toEqual([]);
  expect(evidence).toMatchObject({ conclusion: 'remediated', completeness: { grade: 'A' }, decisions: [], counts: { by_standing: { remediated: 2 } } });
  expect(evidence.findings).toMatchObject([{ provenance: 'connection', standing: 'remediated', due_at: on('03-31'), within_sla: true }, {}]);
  expect(evidence.checks.map(({ id: check, result }) => `${check} ${result}`)).toEqual([
    'approved_independently pass',
    'verified_by_scan pass',
    'within_deadline pass',
    'exceptions_end not_applicable',
  ]);
  expect(new Set(evidence.controls.map(({ verdict }) => verdict))).toEqual(new Set(['supports']));
});

test.each(routes)('%s', (_, attempt, conclusion, grade, gaps) => {
  const evidence = derived(attempt);
  expect({ conclusion: evidence.conclusion, grade: evidence.completeness.grade, gaps: codesOf(evidence) }).toEqual({ conclusion, grade, gaps });
});

test('no combination of these routes is remediated with grade A', () => {
  fc.assert(
    fc.property(fc.shuffledSubarray(routes, { minLength: 1, maxLength: 4 }), (attempts) => {
      const { completeness } = derived(all(...attempts.map(([, attempt]) => attempt)));
      expect(['C', 'D']).toContain(completeness.grade);
    }),
    { numRuns: 200 },
  );
});

const verdicts = (attempt: (given: Case) => void) => Object.fromEntries(derived(attempt).controls.map(({ control, verdict }) => [control, verdict]));

test('a control is supported only by what was done, and not addressed by a package that shows nothing of it', () => {
  expect(verdicts(change(1, { state: 'open', assurance: null, cause: 'none', closed_at: null }))).toMatchObject({
    'CC7.1': 'supports',
    'CC7.4': 'does_not_support',
    'CC8.1': 'supports',
    'SI-2': 'does_not_support',
  });
  expect(verdicts(facts({ findings: [], scans: [], artifacts: [], approvals: [] }))).toMatchObject({
    'CC7.1': 'not_addressed',
    'CC8.1': 'not_addressed',
    'AU-10': 'supports',
  });
  expect(verdicts(facts({ approvals: [] }))).toMatchObject({ 'CC8.1': 'does_not_support', 'RA-5': 'supports' });
  expect(verdicts(change(1, { first_seen: on('01-02'), clock_started_at: on('01-02') }))).toMatchObject({ '6.3.3': 'does_not_support', '11.3.1': 'supports' });
});

test('people who made credentials for each other in a circle are all behind each of them', () => {
  const circle = (given: Case): void => {
    const maker = new Map([
      [ada.person, grace.person],
      [grace.person, ada.person],
    ]);
    given.facts.people = given.facts.people.map((person) => ({ ...person, signs_in_with: 'password', credential_from: maker.get(person.id) ?? null }));
  };
  expect(codesOf(derived(circle))).toEqual(['approver_took_part M']);
});

test('the facts and what follows from them conform to the schemas', () => {
  for (const [name, attempt] of routes) {
    const { findings, ...document } = derived(attempt);
    expect([name, ...validate(evidenceSchema, JSON.parse(JSON.stringify(document)))]).toEqual([name]);
    for (const finding of findings) expect(validate(findingSchema, JSON.parse(JSON.stringify(finding)))).toEqual([]);
  }
});
