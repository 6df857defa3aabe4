import { sql } from 'kysely';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { systemActor } from '../../shared/actor.ts';
import { newId } from '../../shared/ids.ts';
import { type Item, image, inLib, useImports } from '../../testing/findings/imports.ts';
import { countBySeverity, emptyCounts } from './count-changes.ts';
import { listImportChanges, toImportChange } from './import-changes.ts';
import { confirmImport } from './manage-imports.ts';

const engine = useImports();
let org: string;

type Query = Parameters<typeof listImportChanges>[3];

async function page(id: string, query: Query = {}, request: { limit?: number; position?: { direction: 'next'; value: string; id: string } } = {}) {
  const { limit = 200, position = null } = request;
  const found = await engine
    .db()
    .withTenant({ orgId: org }, (tx) => listImportChanges(tx, org, id, query, { limit, sort: '-severity', total: 'bounded', position, seal: JSON.stringify }));
  return { ...found, data: found.data.map(toImportChange) };
}
const shown = async (id: string, query: Query = {}) =>
  (await page(id, query)).data.map(({ kind, title, from_status, to_status }) => `${title}: ${kind} ${from_status} -> ${to_status}`).sort();

const on = (day: number): Item => ({ run: { started_at: new Date(Date.UTC(2026, 9, day)), finished_at: new Date(Date.UTC(2026, 9, day)) } });
const complete = { scope: { coverage: 'complete' as const, asset: image } };
const scan = (day: number, items: Item[], source: 'tool_a' | 'tool_b' = 'tool_a') => engine.run(org, [on(day), ...items], { ...complete, source });
const lib = (name: string, given: Parameters<typeof inLib>[1] = {}) => inLib(name, { title: name, ...given });

describe('the changes of an import', () => {
  const ids: Record<'first' | 'second' | 'third' | 'fourth', string> = { first: '', second: '', third: '', fourth: '' };
  beforeAll(async () => {
    org = await engine.organization();
    ids.first = (await scan(1, [lib('a', { severity: 'critical' }), lib('b'), lib('c', { severity: 'low' })])).id;
    ids.second = (await scan(2, [lib('a', { severity: 'critical' }), lib('c', { severity: 'medium' }), lib('d')])).id;
    ids.third = (await scan(3, [lib('a', { severity: 'critical' }), lib('b'), lib('c', { severity: 'medium' }), lib('d')])).id;
    ids.fourth = (await scan(4, [lib('a', { severity: 'critical' }), lib('b'), lib('c', { severity: 'medium' }), lib('d')])).id;
  });

  it('are what was created, closed and updated', async () => {
    expect(await shown(ids.first)).toEqual(['a: created null -> open', 'b: created null -> open', 'c: created null -> open']);
    expect(await shown(ids.second)).toEqual(['b: closed open -> verified', 'c: updated null -> null', 'd: created null -> open']);
    expect(await shown(ids.third)).toEqual(['b: reopened verified -> open']);
    expect(await shown(ids.fourth)).toEqual([]);
  });

  it('name the asset, the severity and what the source says differently', async () => {
    const { data } = await page(ids.second, { kind: ['updated'] });
    expect(data).toMatchObject([
      {
        title: 'c',
        severity: 'medium',
        asset: { type: 'container_image', name: expect.stringContaining('shop') },
        fields: [{ field: 'severity', from: 'low', to: 'medium' }],
      },
    ]);
  });

  it('can be filtered by kind', async () => {
    expect(await shown(ids.second, { kind: ['closed'] })).toEqual(['b: closed open -> verified']);
    expect(await shown(ids.second, { kind: ['created', 'updated'] })).toEqual(['c: updated null -> null', 'd: created null -> open']);
    expect(await shown(ids.second, { kind: ['reopened'] })).toEqual([]);
  });

  it('are listed most severe first, page by page', async () => {
    const first = await page(ids.first, {}, { limit: 2 });
    expect(first.data.map(({ title }) => title)).toEqual(['a', 'b']);
    expect(first.page).toMatchObject({ total: { count: 3, relation: 'exact' }, next_cursor: expect.any(String) });
    const second = await page(ids.first, {}, { limit: 2, position: JSON.parse(first.page.next_cursor ?? '') });
    expect(second.data.map(({ title }) => title)).toEqual(['c']);
    expect(second.page.next_cursor).toBeNull();
  });

  it('include what is unchanged only on request and only of the newest scan', async () => {
    expect(await shown(ids.third, { kind: ['unchanged'] })).toEqual([]);
    expect(await shown(ids.fourth, { kind: ['unchanged'] })).toEqual(['a', 'b', 'c', 'd'].map((name) => `${name}: unchanged null -> null`));
  });

  it('stay what they were when later imports change the same findings', async () => {
    const before = await shown(ids.second);
    await scan(5, [lib('d')]);
    expect(await shown(ids.second)).toEqual(before);
  });

  it('of a dry run are none, and of an unknown import not found', async () => {
    const dry = await engine.run(org, [on(6), lib('new')], { ...complete, dryRun: true });
    expect(await shown(dry.id)).toEqual([]);
    await expect(shown(newId())).rejects.toThrow(/import/);
  });

  it('of two sources at the same time are kept apart', async () => {
    const other = await scan(7, [lib('x')], 'tool_b');
    await engine
      .admin()
      .query('update findings set created_at = (select finished_at from imports where id = $2) where org_id = $1 and title = $3', [org, ids.first, 'x']);
    expect(await shown(ids.first)).toHaveLength(3);
    expect(await shown(other.id)).toEqual([]);
  });
});

describe('the counts by severity', () => {
  beforeEach(async () => {
    org = await engine.organization();
  });

  it('of an import count what it created, reopened and closed, each finding once', async () => {
    await scan(1, [lib('a', { severity: 'critical' }), lib('b'), lib('c'), lib('d', { severity: 'low' }), lib('e', { severity: 'info' })]);
    const importId = newId();
    const outcomes: [string, string, number][] = [
      ['a', 'created', 0],
      ['a', 'created', 1],
      ['b', 'reopened', 0],
      ['b', 'joined', 1],
      ['e', 'updated', 0],
    ];
    const counts = await engine.db().withTenant({ orgId: org }, async (tx) => {
      for (const [title, outcome, track] of outcomes) {
        await sql`
          insert into tenant_import_groups (org_id, import_id, n, members, rows, asset_id, track, counts, weakness, identity_key, present, content, seen_at, finding_id, is_shared, outcome)
          select org_id, ${importId}, 1, '{1}', 1, asset_id, ${track}, true, weakness, identity_key, true, '', now(), id, false, ${outcome} from findings where org_id = ${org} and title = ${title}`.execute(
          tx,
        );
      }
      await sql`insert into imports (org_id, id, status, sha256, bytes, created_by, actor) values (${org}, ${importId}, 'running', '', 0, 'test', '{}')`.execute(
        tx,
      );
      for (const [title, status] of [
        ['c', 'verified'],
        ['d', 'remediated'],
      ]) {
        await sql`
          insert into import_closures (org_id, import_id, finding_id, track, absence, absent_at)
          select org_id, ${importId}, id, track, 'gone', now() from findings, generate_series(0, 1) track where org_id = ${org} and title = ${title}`.execute(
          tx,
        );
        await sql`
          insert into finding_history (org_id, finding_id, id, actor_type, actor_name, import_id, action, after)
          select org_id, id, new_id(), 'system', 'test', ${importId}, 'status_changed', jsonb_build_object('status', ${status}::text) from findings where org_id = ${org} and title = ${title}`.execute(
          tx,
        );
      }
      return countBySeverity(tx, org, importId);
    });
    const empty = emptyCounts();
    expect(counts).toEqual({ created: { ...empty.created, critical: 1 }, reopened: { ...empty.reopened, high: 1 }, closed: { ...empty.closed, high: 1 } });
  });

  it('of a confirmed import include what it closed', async () => {
    const names = Array.from({ length: 12 }, (_, n) => `lib${n}`);
    await scan(
      1,
      names.map((name, n) => lib(name, { severity: n < 2 ? 'critical' : 'low' })),
    );
    const held = await scan(2, []);
    expect(held.status).toBe('needs_confirmation');
    const actor = systemActor(org, 'test');
    const confirmed = await engine.db().withTenant({ orgId: org }, (tx) => confirmImport(tx, actor, held.id, engine.follower));
    expect(confirmed).toMatchObject({ closed: 12, by_severity: { closed: { critical: 2, low: 10, high: 0 } } });
  });
});
