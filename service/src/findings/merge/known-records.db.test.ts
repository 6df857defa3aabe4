import type { Observation, ReportFormat } from '@rrs/scan-reports';
import { beforeEach, describe, expect, it } from 'vitest';
import { inLib, seen, useImports } from '../../testing/findings/imports.ts';
import { stageKnown } from './known-records.ts';

const engine = useImports();
let org: string;
beforeEach(async () => {
  org = await engine.organization();
});
const written = async () => (await engine.admin().query('select count(*)::int as rows from finding_history where org_id = $1', [org])).rows[0].rows;

describe('records that repeat the last scan', () => {
  it('are looked up one by one, also in an organization that the statistics of the database do not know', async () => {
    await engine.run(await engine.organization(), [inLib('a')]);
    await engine.admin().query('analyze findings, sightings');
    const started = performance.now();
    await engine.run(
      org,
      Array.from({ length: 600 }, (_, n) => inLib(`lib${n}`)),
    );
    const imported = performance.now();
    const unknown = Array.from({ length: 600 }, (_, n) => n.toString(16).padStart(32, '0'));
    const never = unknown.map(() => null);
    expect(await stageKnown(engine.db(), { orgId: org, importId: org })({ contents: unknown, firstSeen: never, lastSeen: never })).toEqual([]);
    expect(performance.now() - imported).toBeLessThan((imported - started) / 2);
  });

  it('are looked up with statistics that many small imports keep up to date, before autovacuum gets to them', async () => {
    const admin = engine.admin();
    for (const table of ['findings', 'sightings']) await admin.query(`alter table ${table} set (autovacuum_enabled = off)`);
    for (let report = 0; report < 8; report++)
      await engine.run(
        org,
        Array.from({ length: 120 }, (_, n) => inLib(`lib${report}-${n}`)),
      );
    const { rows } = await admin.query(`select relname, reltuples from pg_class where oid in ('findings'::regclass, 'sightings'::regclass) order by 1`);
    for (const { relname, reltuples } of rows) expect({ relname, isKnown: reltuples > 8 * 120 * 0.4 }).toEqual({ relname, isKnown: true });
  });

  it('are recognized, and other records are still imported', async () => {
    await engine.run(org, [inLib('a'), inLib('b')]);
    const second = await engine.run(org, [inLib('a'), inLib('b', { severity: 'low' }), inLib('c')]);
    expect(second).toMatchObject({ status: 'succeeded', received: 3, created: 1, updated: 1, unchanged: 1 });
  });

  it('are recognized if they occur twice in one report', async () => {
    await engine.run(org, [inLib('a')]);
    expect(await engine.run(org, [inLib('a'), inLib('a')])).toMatchObject({ received: 2, unchanged: 2 });
    expect(await written()).toBe(0);
  });

  it('are staged in full if another record is about the same finding', async () => {
    const [low, high] = [seen({ severity: 'low' }), seen({ severity: 'critical' })];
    await engine.run(org, [low]);
    expect(await engine.run(org, [low, high])).toMatchObject({ status: 'succeeded', received: 2, updated: 1, unchanged: 1 });
    expect(await engine.findings(org)).toMatchObject([{ severity: 5 }]);
    expect(await engine.run(org, [high, low])).toMatchObject({ updated: 0, unchanged: 2 });
  });

  it.each<[string, Partial<Observation>, Partial<Observation>]>([
    ['description', { description: 'Old.' }, { description: 'New.' }],
    ['solution', { solution: 'Wait.' }, { solution: 'Update.' }],
    ['list of references', { references: ['https://a.example'] }, { references: ['https://a.example', 'https://b.example'] }],
    ['place of a text', { description: 'Update.', solution: null }, { description: null, solution: 'Update.' }],
  ])('are not those of which the %s alone has changed', async (_what, before, after) => {
    await engine.run(org, [inLib('a', before)]);
    expect(await engine.run(org, [inLib('a', after)])).toMatchObject({ updated: 1, unchanged: 0 });
    const { rows } = await engine
      .admin()
      .query(
        `select t.description, t.solution, t.reference_urls as references from findings f join finding_texts t on t.org_id = f.org_id and t.id = f.text_id where f.org_id = $1`,
        [org],
      );
    expect(rows).toMatchObject([after]);
    expect(await engine.run(org, [inLib('a', after)])).toMatchObject({ updated: 0, unchanged: 1 });
  });

  it('of one source do not hide a first report of another source', async () => {
    await engine.run(org, [inLib('a')], { source: 'tool_a' });
    expect(await engine.run(org, [inLib('a')], { source: 'tool_b' })).toMatchObject({ updated: 1 });
    expect(await engine.run(org, [inLib('a')], { scope: { name: 'another pipeline' } })).toMatchObject({ updated: 1 });
    expect((await engine.findings(org))[0]?.sightings).toHaveLength(3);
  });

  it('are staged again if their finding changes while the report is read', async () => {
    await engine.run(org, [inLib('a'), inLib('b')]);
    await engine.admin().query(`update sightings set last_seen = last_seen - interval '3 days' where org_id = $1`, [org]);
    let claimed = false;
    const slow = (format: ReportFormat): ReportFormat => ({
      ...format,
      async *read(input) {
        yield* format.read(input);
        if (claimed) return;
        claimed = true;
        await engine
          .admin()
          .query(
            `update findings set status = 'remediated', assurance = 'declared', status_changed_at = now() - interval '1 hour' where org_id = $1 and location->>'component' = 'a'`,
            [org],
          );
      },
    });
    // More than one batch, so that the first records are recognized before the change.
    const many = Array.from({ length: 2_100 }, (_, index) => inLib(`new-${index}`));
    const id = await engine.start(org, [inLib('a'), inLib('b'), ...many]);
    await engine.attempt(org, id, {}, slow);
    expect(await engine.read(org, id)).toMatchObject({ status: 'succeeded', received: 2_102, created: 2_100, reopened: 1, unchanged: 1 });
  });
});
