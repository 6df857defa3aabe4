import { describe, expect, it } from 'vitest';
import { useImports } from '../../testing/findings/imports.ts';
import { uploadsTo } from '../../testing/findings/uploads.ts';
import type { ScanScope } from '../import/manage-imports.ts';

/** Complete reports that say themselves that findings were left out: what was known before, what a comment in the code hides, and what a filter removes. */
const engine = useImports();

const at = (day: number): string => new Date(Date.UTC(2026, 0, day)).toISOString();

const { upload, statuses } = uploadsTo(engine);

/** Imports an older and a newer report. Returns the statuses, and the notes of the newer one. */
async function imported(format: string, reports: readonly [unknown, unknown], { isLate = false, scope = {} }: { isLate?: boolean; scope?: ScanScope } = {}) {
  const org = await engine.organization();
  const runs = [() => upload(org, format, reports[0], { started_at: at(1) }), () => upload(org, format, reports[1], { ...scope, started_at: at(8) })] as const;
  const [first, second] = isLate ? [runs[1], runs[0]] : runs;
  const imports = [await first(), await second()];
  return { statuses: await statuses(org), notes: imports[isLate ? 0 : 1]?.notes, org };
}

describe('SARIF that was compared with a baseline', () => {
  type Result = [rule: string, state?: string];
  const runOf = (results: readonly Result[], more: object = {}) => ({
    tool: { driver: { name: 'Linter' } },
    results: results.map(([ruleId, baselineState]) => ({
      ruleId,
      message: { text: ruleId },
      locations: [{ physicalLocation: { artifactLocation: { uri: `${ruleId}.c` } } }],
      ...(baselineState ? { baselineState } : {}),
    })),
    ...more,
  });
  const sarif = (...runs: object[]) => ({ version: '2.1.0', runs });
  const both = sarif(runOf([['A'], ['B']]));

  it.each([
    ['all of them are new', sarif(runOf([['C', 'new']])), 'open'],
    [
      'they are the difference',
      sarif(
        runOf([
          ['C', 'new'],
          ['D', 'absent'],
        ]),
      ),
      'open',
    ],
    ['none is new', sarif(runOf([], { baselineGuid: '11111111-1111-4111-8111-111111111111' })), 'open'],
    ['only those of one run are all new', sarif(runOf([['C', 'unchanged']]), runOf([['D', 'new']])), 'open'],
    [
      'some were known',
      sarif(
        runOf([
          ['C', 'new'],
          ['D', 'unchanged'],
        ]),
      ),
      'verified',
    ],
    ['one was known and has changed', sarif(runOf([['B', 'updated']])), 'verified'],
    ['one of several runs has none', sarif(runOf([['B', 'unchanged']]), runOf([], { baselineGuid: '11111111-1111-4111-8111-111111111111' })), 'verified'],
    ['nothing was compared', sarif(runOf([['C']])), 'verified'],
  ])('closes what it does not show only if it has all results: %s', async (_, report, status) => {
    for (const isLate of [false, true]) expect((await imported('sarif', [both, report], { isLate })).statuses, `late: ${isLate}`).toMatchObject({ A: status });
  });

  it('says why, and closes findings if the uploader states that the report has all results', async () => {
    const onlyNew = sarif(runOf([['C', 'new']]));
    const { notes, org } = await imported('sarif', [sarif(runOf([['A']])), onlyNew]);
    expect(notes).toEqual([expect.stringMatching(/^1 finding that the report does not show stays open: the report has only what is new since a baseline/)]);
    await upload(org, 'sarif', onlyNew, { started_at: at(9), looked_for: ['known'] });
    expect(await statuses(org)).toEqual({ A: 'verified', C: 'open' });
    expect((await engine.admin().query("select gaps from sightings where org_id = $1 and state = 'absent'", [org])).rows).toEqual([
      { gaps: expect.arrayContaining(['search_unstated']) },
    ]);
  });
});

describe('Bandit', () => {
  const issue = (test_id: string, filename: string, more: object = {}) => ({
    test_id,
    filename,
    issue_text: test_id,
    issue_severity: 'HIGH',
    issue_confidence: 'HIGH',
    line_number: 3,
    line_range: [3],
    ...more,
  });
  const metric = (more: object = {}) => ({ loc: 10, nosec: 0, skipped_tests: 0, ...more });
  const bandit = (day: number, results: object[], metrics: Record<string, object> = {}) => ({
    errors: [],
    generated_at: at(day),
    metrics: { _totals: metric(), './a.py': metric(), './b.py': metric(), ...metrics },
    results,
  });
  const before = bandit(1, [issue('A', './a.py'), issue('B', './b.py')]);

  it.each([
    ['all checks', { nosec: 1 }],
    ['some checks', { skipped_tests: 1 }],
  ])('closes nothing in a file in which a comment hides findings of %s', async (_, counts) => {
    for (const isLate of [false, true]) {
      const { statuses: ended, notes } = await imported('bandit', [before, bandit(8, [], { './a.py': metric(counts) })], { isLate });
      expect(ended, `late: ${isLate}`).toEqual({ A: 'open', B: 'verified' });
      if (!isLate)
        expect(notes).toEqual([
          '1 finding that the report does not show stays open: comments in the code tell the tool to leave out findings, and this one may be among them.',
        ]);
    }
  });

  it('closes nothing if it does not say in which file a comment hides findings', async () => {
    const totals = { _totals: metric({ nosec: 2 }), './a.py': metric({ nosec: 1 }) };
    expect((await imported('bandit', [before, bandit(8, [], totals)])).statuses).toEqual({ A: 'open', B: 'open' });
    expect((await imported('bandit', [before, bandit(8, [], { ...totals, _totals: metric({ nosec: 1 }) })])).statuses).toEqual({ A: 'open', B: 'verified' });
  });

  const found = (counts: Record<string, number>) => ({ _totals: metric(counts) });

  it('closes nothing of a severity of which it found more than it shows', async () => {
    const [low, high, shown] = [issue('A', './a.py', { issue_severity: 'LOW' }), issue('B', './a.py'), issue('C', './b.py')];
    const filtered = found({ 'SEVERITY.LOW': 1, 'SEVERITY.HIGH': 1, 'CONFIDENCE.HIGH': 2 });
    for (const isLate of [false, true]) {
      const { statuses: ended } = await imported('bandit', [bandit(1, [low, high, shown]), bandit(8, [shown], filtered)], { isLate });
      expect(ended, `late: ${isLate}`).toEqual({ A: 'open', B: 'verified', C: 'open' });
    }
  });

  it('closes nothing if it found more of a confidence than it shows, unless the run that saw the finding left out the same', async () => {
    const shown = issue('C', './b.py');
    const unsure = found({ 'SEVERITY.HIGH': 2, 'CONFIDENCE.HIGH': 1, 'CONFIDENCE.LOW': 1 });
    expect((await imported('bandit', [before, bandit(8, [shown], unsure)])).statuses).toEqual({ A: 'open', B: 'open', C: 'open' });
    const unsureBefore = found({ 'SEVERITY.HIGH': 3, 'CONFIDENCE.HIGH': 2, 'CONFIDENCE.LOW': 1 });
    expect((await imported('bandit', [bandit(1, [issue('A', './a.py'), shown], unsureBefore), bandit(8, [shown], unsure)])).statuses).toEqual({
      A: 'verified',
      C: 'open',
    });
  });

  it('closes nothing if it left out what was known before', async () => {
    const { statuses: ended, notes } = await imported('bandit', [
      before,
      bandit(8, [issue('C', './b.py')], found({ 'SEVERITY.HIGH': 3, 'CONFIDENCE.HIGH': 3 })),
    ]);
    expect(ended).toEqual({ A: 'open', B: 'open', C: 'open' });
    expect(notes).toEqual([expect.stringContaining('only what is new since a baseline')]);
  });
});

describe('Checkov', () => {
  const check = (check_id: string, file: string) => ({
    check_id,
    check_name: check_id,
    file_path: `/${file}`,
    file_line_range: [1, 4],
    resource: `bucket.${check_id}`,
  });
  const before = { check_type: 'terraform', results: { failed_checks: [check('A', 'a.tf'), check('B', 'b.tf')] } };
  const quiet = (counts: object) => ({
    check_type: 'terraform',
    results: { failed_checks: [check('B', 'b.tf')] },
    summary: { passed: 3, failed: 1, skipped: 0, parsing_errors: 0, ...counts },
  });

  it.each([
    ['skipped checks', { skipped: 1 }, 'open'],
    ['files that it could not read', { parsing_errors: 1 }, 'open'],
    ['nothing', {}, 'verified'],
  ])('closes nothing if its summary counts %s which it does not list', async (_, counts, status) => {
    expect((await imported('checkov', [before, quiet(counts)])).statuses).toEqual({ A: status, B: 'open' });
  });
});

describe('Trivy', () => {
  const misconfiguration = (ID: string) => ({ ID, Title: ID, Severity: 'HIGH', Status: 'FAIL', CauseMetadata: { Resource: ID, StartLine: 1, EndLine: 2 } });
  const trivy = (day: number, results: [string, string[], object?][]) => ({
    SchemaVersion: 2,
    CreatedAt: at(day),
    ArtifactName: 'https://git.example.com/shop',
    ArtifactType: 'repository',
    Results: results.map(([Target, ids, summary = {}]) => ({
      Target,
      Class: 'config',
      Type: 'terraform',
      MisconfSummary: { Successes: 1, Failures: ids.length, ...summary },
      Misconfigurations: ids.map(misconfiguration),
    })),
  });
  const before = trivy(1, [
    ['a.tf', ['A', 'X']],
    ['b.tf', ['B', 'Y']],
  ]);

  it.each([
    ['ignored checks', { Exceptions: 1 }],
    ['more failed checks than it shows', { Failures: 2 }],
  ])('closes nothing in a file of which it counts %s', async (_, summary) => {
    const newer = trivy(8, [
      ['a.tf', ['X'], summary],
      ['b.tf', ['Y']],
    ]);
    expect((await imported('trivy', [before, newer])).statuses).toEqual({ A: 'open', B: 'verified', X: 'open', Y: 'open' });
  });
});

describe('npm audit and its relatives', () => {
  const advisory = (id: number, severity: string) => ({
    id,
    title: `A${id}`,
    module_name: `lib${id}`,
    severity,
    vulnerable_versions: '<2',
    findings: [{ version: '1.0.0', paths: [`lib${id}`] }],
  });
  const counts = { info: 0, low: 0, moderate: 2, high: 1, critical: 0 };
  const npm6 = (...advisories: ReturnType<typeof advisory>[]) => ({
    actions: [],
    advisories: Object.fromEntries(advisories.map((one) => [one.id, one])),
    muted: [],
    metadata: { vulnerabilities: counts, totalDependencies: 10 },
  });
  const yarn = (...advisories: ReturnType<typeof advisory>[]) =>
    [
      ...advisories.map((one) => ({ type: 'auditAdvisory', data: { resolution: { id: one.id, path: one.module_name }, advisory: one } })),
      { type: 'auditSummary', data: { vulnerabilities: counts, totalDependencies: 10 } },
    ]
      .map((line) => JSON.stringify(line))
      .join('\n');
  const npm7 = (...advisories: ReturnType<typeof advisory>[]) => ({
    auditReportVersion: 2,
    vulnerabilities: Object.fromEntries(
      advisories.map(({ module_name, severity, id, title }) => [
        module_name,
        { name: module_name, severity, via: [{ source: id, name: module_name, title, severity, range: '<2' }], nodes: [module_name], fixAvailable: true },
      ]),
    ),
    metadata: { vulnerabilities: counts, dependencies: { total: 10 } },
  });
  const [medium, high, critical] = [advisory(1, 'moderate'), advisory(2, 'high'), advisory(3, 'critical')];

  it.each([
    ['npm 6 and pnpm', npm6],
    ['yarn', yarn],
    ['npm 7', npm7],
  ])('close nothing of a severity that the summary counts and the report does not have: %s', async (_, report) => {
    expect((await imported('npm_audit', [report(medium, high, critical), report(high)])).statuses).toEqual({ A1: 'open', A2: 'open', A3: 'verified' });
  });
});
