import { beforeEach, describe, expect, it } from 'vitest';
import { systemActor } from '../../shared/actor.ts';
import { type ImportOptions, type Item, image, inLib, useImports } from '../../testing/findings/imports.ts';
import { confirmImport, discardImport } from '../import/manage-imports.ts';
import { type FindingPatch, updateFinding } from '../triage/triage.ts';

const engine = useImports();
let org: string;
beforeEach(async () => {
  org = await engine.organization();
});

const day = (number: number): string => `2026-01-${String(number).padStart(2, '0')}T12:00:00.000Z`;
const complete = (number: number, extra: ImportOptions['scope'] = {}): ImportOptions['scope'] => ({
  coverage: 'complete',
  asset: image,
  started_at: day(number),
  ...extra,
});
const partial = (number: number): ImportOptions['scope'] => ({ started_at: day(number) });
const run = (items: readonly Item[], scope: ImportOptions['scope'], options: ImportOptions = {}) =>
  engine.run(org, items, { ...options, ...(scope ? { scope } : {}) });
const statuses = async () => (await engine.findings(org)).map(({ status, assurance }) => ({ status, assurance }));
const many = (count: number) => Array.from({ length: count }, (_, index) => inLib(`lib-${index}`));
const patch = async (change: FindingPatch) => {
  const [finding] = await engine.findings(org);
  await engine
    .db()
    .withTenant({ orgId: org }, (tx) => updateFinding(tx, systemActor(org, 'Ada'), { id: finding?.id ?? '', patch: change, check: () => {} }, engine.follower));
};
const claimedOn = (number: number) => engine.admin().query('update findings set status_changed_at = $2 where org_id = $1', [org, day(number)]);
const countOf = async (status: string) => (await engine.findings(org)).filter((finding) => finding.status === status).length;

describe('absence', () => {
  it('on an asset that nobody names is not recorded at all', async () => {
    const nowhere = inLib('a', { asset: null });
    expect(await run([nowhere], { coverage: 'complete' })).toMatchObject({
      status: 'failed',
      error: expect.stringContaining('Set `asset` in `scan_scope`'),
    });
    expect(await run([nowhere], { asset: 'unspecified', started_at: day(1) })).toMatchObject({ status: 'succeeded', created: 1 });
    expect(await run([], { asset: 'unspecified', coverage: 'complete' })).toMatchObject({
      closed: 0,
      notes: [expect.stringContaining('unspecified asset'), expect.anything()],
    });
  });

  it('without a known coverage closes nothing and adds a note', async () => {
    await run([inLib('a')], complete(1));
    expect(await run([], { coverage: 'complete', started_at: day(2) })).toMatchObject({ closed: 0, notes: [expect.stringContaining('names an asset')] });
    await run([inLib('a')], complete(3));
    expect(await run([], complete(2))).toMatchObject({ closed: 0, notes: [expect.stringContaining('A newer scan')] });
  });

  it('in a file that the tool could not read closes nothing and adds a note', async () => {
    const on = (path: string) => inLib('a', { rule: 'r', vulnerability_ids: [], location: { path, line: 1 } });
    await run([on('src/a.ts'), on('src/b.ts'), on('lib/c/d.ts'), on('lib/cd.ts')], complete(1));
    const id = await engine.start(org, [], { scope: complete(2) ?? {} });
    await engine.attempt(org, id, {}, (format) => ({ ...format, about: async () => ({ tools: null, finished: true, unread: ['src/b.ts', 'lib/c'] }) }));
    expect(await engine.read(org, id)).toMatchObject({
      status: 'succeeded',
      closed: 2,
      notes: [
        expect.stringMatching(/^2 findings that the report does not show stay open: the tool did not read the file, .* set `path` in `scan_scope` to `\.`\.$/),
      ],
    });
    const open = (await engine.findings(org)).filter(({ status }) => status === 'open').map(({ location }) => location.path);
    expect(open.sort()).toEqual(['lib/c/d.ts', 'src/b.ts']);
    const atOnce = await engine.findings(org);
    org = await engine.organization();
    const newer = await engine.start(org, [], { scope: complete(2) ?? {} });
    await engine.attempt(org, newer, {}, (format) => ({ ...format, about: async () => ({ tools: null, finished: true, unread: ['src/b.ts', 'lib/c'] }) }));
    await run([on('src/a.ts'), on('src/b.ts'), on('lib/c/d.ts'), on('lib/cd.ts')], complete(1));
    const statusOf = (all: typeof atOnce) => all.map(({ location, status }) => `${location.path} ${status}`).sort();
    expect(statusOf(await engine.findings(org))).toEqual(statusOf(atOnce));
  });

  it('proves the fix of a finding that was called verified without proof, if the scan is complete and newer', async () => {
    await run([inLib('a')], complete(1));
    await patch({ status: 'remediated', reason: 'updated' });
    await patch({ status: 'verified', reason: 'looks good' });
    await claimedOn(3);
    await run([], partial(4));
    expect(await statuses()).toEqual([{ status: 'verified', assurance: 'declared' }]);
    expect(await run([], complete(5))).toMatchObject({ closed: 0, updated: 1 });
    expect(await statuses()).toEqual([{ status: 'verified', assurance: 'scan_after_claim' }]);
  });

  it('in a report that arrives after a newer one of the same day closes nothing', async () => {
    const at = (hour: number): ImportOptions['scope'] => ({ ...complete(1), started_at: `2026-01-01T${hour}:00:00.000Z` });
    await run([inLib('a')], at(10));
    expect(await run([inLib('a'), inLib('b')], at(14))).toMatchObject({ created: 1, unchanged: 1 });
    expect(await run([], at(12))).toMatchObject({ status: 'succeeded', closed: 0 });
    expect(await run([inLib('b')], at(16))).toMatchObject({ closed: 1 });
  });

  it('in a partial run closes nothing', async () => {
    await run([inLib('a'), inLib('b')], partial(1));
    expect(await run([inLib('a')], partial(2))).toMatchObject({ closed: 0, unchanged: 1 });
    expect(await statuses()).toEqual([
      { status: 'open', assurance: null },
      { status: 'open', assurance: null },
    ]);
  });

  it('in a complete run closes findings of this source on the covered assets', async () => {
    const other = { type: 'container_image', name: 'other:1' } as const;
    await run([inLib('a'), inLib('b'), inLib('a', { asset: other })], partial(1));
    await run([inLib('c')], partial(1), { source: 'tool_b' });
    expect(await run([inLib('a')], complete(2))).toMatchObject({ status: 'succeeded', closed: 1, unchanged: 1 });
    const findings = await engine.findings(org);
    expect(findings.map(({ asset, location, status, assurance }) => [asset, location.component, status, assurance])).toEqual([
      ['other', 'a', 'open', null],
      ['registry.example.com/shop', 'a', 'open', null],
      ['registry.example.com/shop', 'b', 'verified', 'scan_only'],
      ['registry.example.com/shop', 'c', 'open', null],
    ]);
    expect(findings[2]?.sightings).toMatchObject([{ state: 'absent' }]);
    expect((await engine.admin().query(`select type, data->>'to' as "to" from events where org_id = $1 and type like 'finding.%'`, [org])).rows).toEqual([
      { type: 'finding.status_changed', to: 'verified' },
    ]);
  });

  it('in a scan with another name or of an unknown asset closes nothing', async () => {
    await run([inLib('a')], partial(1));
    expect(await run([], complete(2, { name: 'nightly' }))).toMatchObject({ closed: 0 });
    expect(await run([], { coverage: 'complete', started_at: day(2) })).toMatchObject({ closed: 0 });
    expect(await run([], complete(2))).toMatchObject({ closed: 1 });
  });

  it('closes nothing while another source still sees the finding', async () => {
    await run([inLib('a')], partial(1));
    await run([inLib('a')], partial(1), { source: 'tool_b' });
    expect(await run([], complete(2))).toMatchObject({ closed: 0 });
    expect(await engine.findings(org)).toMatchObject([{ status: 'open', sightings: [{ state: 'absent' }, { state: 'present' }] }]);
    expect(await run([], complete(3), { source: 'tool_b' })).toMatchObject({ closed: 1 });
  });

  it('closes nothing if records were rejected and adds a note', async () => {
    await run([inLib('a')], partial(1));
    const row = await run([inLib('b'), { place: 'line 2', reason: 'bad' }], complete(2));
    expect(row).toMatchObject({
      closed: 0,
      rejected: 1,
      rejections: [{ place: 'line 2', reason: 'bad' }],
      notes: [expect.stringContaining('Nothing was closed')],
    });
    expect(await countOf('open')).toBe(2);
  });

  it('in a scan older than the last sighting closes nothing', async () => {
    await run([inLib('a')], partial(5));
    expect(await run([], complete(4))).toMatchObject({ closed: 0 });
    expect(await countOf('open')).toBe(1);
  });

  it('does not change what people decided', async () => {
    await run([inLib('a')], partial(1));
    await patch({ status: 'false_positive', justification: 'code_not_reachable' });
    expect(await run([], complete(2))).toMatchObject({ closed: 0 });
    expect(await engine.findings(org)).toMatchObject([{ status: 'false_positive', sightings: [{ state: 'absent' }] }]);
  });

  it.each([
    ['after', 9, 'verified', 'scan_after_claim', 1],
    ['before', 3, 'remediated', 'declared', 0],
  ] as const)('in a scan that began %s the claim', async (_, scanned, status, assurance, closed) => {
    await run([inLib('a')], partial(1));
    await patch({ status: 'remediated', reason: 'upgraded' });
    await claimedOn(5);
    expect(await run([], complete(scanned))).toMatchObject({ closed });
    expect(await statuses()).toEqual([{ status, assurance }]);
  });

  it('that a record of a file reports is a claim until a complete run proves it', async () => {
    await run([inLib('a'), inLib('b')], partial(1));
    const gone = [inLib('a', { present: false }), inLib('new', { present: false })];
    expect(await run(gone, partial(2))).toMatchObject({ received: 2, created: 0, updated: 1, unchanged: 1, closed: 0 });
    // A file can say anything: that it calls the finding fixed is a claim, not a proof.
    expect(await statuses()).toEqual([
      { status: 'remediated', assurance: 'declared' },
      { status: 'open', assurance: null },
    ]);
    expect(await run(gone, partial(3))).toMatchObject({ closed: 0, unchanged: 2 });
    expect(await run([inLib('b')], complete(4))).toMatchObject({ closed: 1 });
    expect(await statuses()).toEqual([
      { status: 'verified', assurance: 'scan_after_claim' },
      { status: 'open', assurance: null },
    ]);
  });
});

describe('a finding that is seen again', () => {
  it('has a new deadline that begins with the scan, which a change of severity does not reset', async () => {
    await run([inLib('a')], complete(1));
    await run([], complete(2));
    expect(await run([inLib('a')], complete(3))).toMatchObject({ reopened: 1 });
    await patch({ severity: 'critical', reason: 'reachable from the internet' });
    const { rows } = await engine.admin().query('select clock_from, first_seen, due_at > clock_from as ahead from findings where org_id = $1', [org]);
    expect(rows).toEqual([{ clock_from: new Date(day(3)), first_seen: new Date(day(1)), ahead: true }]);
  });

  it('is reopened and counted, with history and event', async () => {
    await run([inLib('a')], partial(1));
    await run([], complete(2));
    expect(await run([inLib('a')], partial(3))).toMatchObject({ reopened: 1, received: 1 });
    expect(await engine.findings(org)).toMatchObject([{ status: 'open', assurance: null, reopen_count: 1, sightings: [{ state: 'present' }] }]);
    const history = await engine.admin().query('select action, before, after from finding_history where org_id = $1 order by id', [org]);
    expect(history.rows).toMatchObject([{ action: 'status_changed' }, { action: 'reopened', before: { status: 'verified' }, after: { status: 'open' } }]);
    const events = await engine.admin().query(`select data from events where org_id = $1 and type = 'finding.status_changed' order by xact, id`, [org]);
    expect(events.rows).toMatchObject([{ data: { to: 'verified' } }, { data: { from: 'verified', to: 'open' } }]);
  });

  it('by an older scan keeps the data of the newer one', async () => {
    await run([inLib('a', { severity: 'high', title: 'Newer' })], partial(9));
    expect(await run([inLib('a', { severity: 'low', title: 'Older' })], partial(3))).toMatchObject({ updated: 0, unchanged: 1 });
    expect(await engine.findings(org)).toMatchObject([{ title: 'Newer' }]);
    expect(await run([inLib('a', { severity: 'low', title: 'Newest' })], partial(10))).toMatchObject({ updated: 1 });
  });

  it('by an older scan stays closed and absent', async () => {
    await run([inLib('a')], partial(1));
    await run([], complete(5));
    expect(await run([inLib('a', { title: 'Last words' })], partial(3))).toMatchObject({ reopened: 0, updated: 1 });
    expect(await engine.findings(org)).toMatchObject([{ status: 'verified', title: 'Last words', sightings: [{ state: 'absent' }] }]);
    expect(await run([inLib('a', { title: 'Older words' })], partial(2))).toMatchObject({ reopened: 0, updated: 0, unchanged: 1 });
    expect(await run([inLib('a')], partial(6))).toMatchObject({ reopened: 1 });
  });

  it('in a report right after the one without it is reopened', async () => {
    await run([inLib('a')], partial(1));
    const without = await engine.start(org, [], { scope: { coverage: 'complete', asset: image } });
    const within = await engine.start(org, [inLib('a')]);
    await engine.attempt(org, without);
    await engine.attempt(org, within);
    expect(await engine.findings(org)).toMatchObject([{ status: 'open', reopen_count: 1 }]);
  });

  it('is no longer claimed as remediated', async () => {
    await run([inLib('a')], partial(1));
    await patch({ status: 'remediated', reason: 'upgraded' });
    await claimedOn(5);
    expect(await run([inLib('a')], partial(4))).toMatchObject({ reopened: 0 });
    expect(await run([inLib('a')], partial(6))).toMatchObject({ reopened: 1 });
  });
});

describe('the limit for closures', () => {
  const confirm = (id: string) => engine.db().withTenant({ orgId: org }, (tx) => confirmImport(tx, systemActor(org, 'Ada'), id, engine.follower));
  const discard = (id: string) => engine.db().withTenant({ orgId: org }, (tx) => discardImport(tx, systemActor(org, 'Ada'), id));

  it('allows up to 50 or up to 20 %', async () => {
    await run(many(60), partial(1));
    expect(await run(many(10), complete(2))).toMatchObject({ status: 'succeeded', closed: 50 });
  });

  it('withholds more, and confirmation closes exactly the findings not seen since, once', async () => {
    await run(many(60), partial(1));
    const held = await run(many(5), complete(2));
    expect(held).toMatchObject({
      status: 'needs_confirmation',
      closed: 0,
      unchanged: 5,
      notes: ['55 of 60 open findings of this source would be closed. Confirm or discard the import.'],
    });
    expect(await countOf('open')).toBe(60);
    // On the same day as the first scan, so that the times of sightings do not differ.
    await run(many(9).slice(5), { started_at: '2026-01-02T18:00:00Z' });
    await run([inLib('lib-10')], partial(1));
    expect(await confirm(held.id)).toMatchObject({ status: 'succeeded', closed: 51 });
    expect(await countOf('verified')).toBe(51);
    await expect(confirm(held.id)).rejects.toMatchObject({ code: 'conflict' });
    await expect(discard(held.id)).rejects.toMatchObject({ code: 'conflict' });
  });

  it('closes nothing if the import is discarded', async () => {
    await run(many(60), partial(1));
    const held = await run([], complete(2));
    expect(await discard(held.id)).toMatchObject({ status: 'discarded', closed: 0 });
    expect(await countOf('open')).toBe(60);
    expect((await engine.admin().query('select from import_closures where org_id = $1', [org])).rowCount).toBe(0);
    await expect(confirm(held.id)).rejects.toMatchObject({ code: 'conflict' });
  });

  it('is only reported by a dry run', async () => {
    await run(many(60), partial(1));
    const row = await run([], complete(2), { dryRun: true });
    expect(row).toMatchObject({ status: 'succeeded', closed: 0, notes: [expect.stringContaining('60 of 60')] });
    await expect(confirm(row.id)).rejects.toMatchObject({ code: 'conflict' });
  });

  it('follows the policy of the organization', async () => {
    await engine.admin().query(`update organizations set policy = '{"brake": {"share": 0.1, "count": 2}}' where id = $1`, [org]);
    await run(many(10), partial(1));
    expect(await run(many(7), complete(2))).toMatchObject({ status: 'needs_confirmation' });
  });
});

describe('a dry run', () => {
  it('reports what would change and changes nothing', async () => {
    await run([inLib('a'), inLib('b'), inLib('c')], partial(1));
    await run([inLib('a'), inLib('b')], complete(2));
    const before = await engine.rowsOf(org);
    const report = [inLib('a'), inLib('c'), inLib('d'), { place: 'x', reason: 'bad' }];
    expect(await run(report, partial(3), { dryRun: true })).toMatchObject({
      received: 4,
      created: 1,
      unchanged: 1,
      reopened: 1,
      rejected: 1,
      dry_run: true,
      status: 'succeeded',
    });
    expect(await run([inLib('a', { title: 'other' })], complete(3), { dryRun: true })).toMatchObject({ updated: 1, closed: 1 });
    expect(await engine.rowsOf(org)).toEqual(before);
  });
});
