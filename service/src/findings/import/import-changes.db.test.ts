import fc from 'fast-check';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { systemActor } from '../../shared/actor.ts';
import { newId } from '../../shared/ids.ts';
import { type Item, image, inLib, useImports } from '../../testing/findings/imports.ts';
import { updateFinding } from '../triage/triage.ts';
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

  it('include a second source that says nothing new', async () => {
    const other = await scan(7, [lib('d')], 'tool_b');
    expect(other).toMatchObject({ created: 0, updated: 1 });
    expect(await shown(other.id)).toEqual(['d: updated null -> null']);
    expect((await page(other.id)).data).toMatchObject([{ fields: [] }]);
  });
});

describe('what an import saw unchanged', () => {
  it('is also known of the newest run on a track that does not count or that closes nothing', async () => {
    org = await engine.organization();
    const asset = { type: 'repository', name: 'https://github.com/acme/gate' } as const;
    const run = (day: number, track: string, names: readonly string[], coverage: 'complete' | 'partial' = 'complete') =>
      engine.run(org, [on(day), ...names.map((name) => lib(name, { asset }))], { scope: { asset, track, coverage } });
    await run(1, 'main', ['a', 'b']);
    const first = await run(2, 'pr-17', ['a', 'c']);
    expect(await shown(first.id, { kind: ['created', 'unchanged'] })).toEqual(['a: unchanged null -> null', 'c: created null -> open']);
    const second = await run(3, 'pr-17', ['a', 'c']);
    expect(await shown(second.id, { kind: ['unchanged'] })).toEqual(['a: unchanged null -> null', 'c: unchanged null -> null']);
    expect(await shown(second.id)).toEqual([]);
    expect(await shown(first.id, { kind: ['unchanged'] })).toEqual([]);
    const partial = await run(4, 'main', ['b', 'd'], 'partial');
    expect(await shown(partial.id, { kind: ['created', 'unchanged'] })).toEqual(['b: unchanged null -> null', 'd: created null -> open']);
  });
});

describe('a report that is imported again', () => {
  it('shows what it saw, so that a gate can decide on it', async () => {
    org = await engine.organization();
    const again = () => scan(3, [lib('a'), lib('b')]);
    await again();
    for (let n = 0; n < 2; n++) {
      const repeated = await again();
      expect(repeated).toMatchObject({ created: 0, updated: 0 });
      expect(await shown(repeated.id, { kind: ['unchanged'] })).toEqual(['a: unchanged null -> null', 'b: unchanged null -> null']);
    }
  });
});

describe('the counts of an import', () => {
  const NAMES = ['a', 'b', 'c', 'd', 'e', 'f'];
  const libs = fc.uniqueArray(
    fc.record({
      name: fc.constantFrom(...NAMES),
      severity: fc.constantFrom('low', 'high', 'critical'),
      path: fc.constantFrom('x', 'y'),
      present: fc.boolean(),
    }),
    { selector: ({ name, path }) => name + path },
  );
  const reports = fc.array(
    fc.record({
      source: fc.constantFrom('tool_a', 'tool_b'),
      asset: fc.constantFrom('shop:prod', 'shop:pr-17', 'shop:1.4.2'),
      coverage: fc.constantFrom('complete', 'partial'),
      day: fc.integer({ min: 1, max: 20 }),
      items: libs,
      dismiss: fc.option(fc.constantFrom(...NAMES)),
    }),
    { minLength: 4, maxLength: 6 },
  );

  it('equal what the list of changes has of each kind', async () => {
    await fc.assert(
      fc.asyncProperty(reports, async (given) => {
        org = await engine.organization();
        for (const { source, asset: name, coverage, day, items, dismiss } of given) {
          const asset = { type: 'container_image' as const, name };
          const records = items.map((item) =>
            lib(item.name, { asset, severity: item.severity as 'low', present: item.present, location: { component: item.name, path: item.path } }),
          );
          const { id } = await engine.run(org, [on(day), { run: { asset } }, ...records], {
            source: source as 'tool_a',
            scope: { coverage: coverage as 'complete' },
          });
          await checkCounts(id);
          if (dismiss !== null) await dismissFinding(dismiss);
        }
      }),
      { numRuns: 4, endOnFailure: true },
    );
  }, 60_000);

  async function checkCounts(id: string): Promise<void> {
    const row = await engine.read(org, id);
    const { data } = await page(id);
    const count = (kind: string) => data.filter((change) => change.kind === kind).length;
    const { created, reopened, closed, updated } = row;
    expect({ created: count('created'), reopened: count('reopened'), closed: count('closed'), updated: count('updated') }).toEqual({
      created,
      reopened,
      closed,
      updated,
    });
    const total = (counts: Record<string, number>) => Object.values(counts).reduce((sum, one) => sum + one, 0);
    const bySeverity = row.by_severity as Record<'created' | 'reopened' | 'closed', Record<string, number>>;
    expect([total(bySeverity.created), total(bySeverity.reopened), total(bySeverity.closed)]).toEqual([created, reopened, closed]);
    expect(new Set(data.map(({ finding_id }) => finding_id)).size).toBe(data.length);
  }

  async function dismissFinding(title: string): Promise<void> {
    const found = (await engine.findings(org)).find((finding) => finding.title === title && finding.status === 'open');
    if (!found) return;
    const patch = { status: 'false_positive', justification: 'code_not_present' } as const;
    await engine
      .db()
      .withTenant({ orgId: org }, (tx) => updateFinding(tx, systemActor(org, 'test'), { id: found.id, patch, check: () => {} }, engine.follower));
  }
});

describe('the counts by severity', () => {
  beforeEach(async () => {
    org = await engine.organization();
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
    expect((await page(held.id, { kind: ['closed'] })).data).toHaveLength(12);
  });

  it('of a dry run are what would change', async () => {
    await scan(1, [lib('a', { severity: 'critical' }), lib('b', { severity: 'low' })]);
    const next = [on(2), lib('b', { severity: 'low' }), lib('c', { severity: 'medium' })];
    const dry = await engine.run(org, next, { ...complete, dryRun: true });
    expect(dry).toMatchObject({ created: 1, closed: 1, by_severity: { created: { medium: 1, critical: 0 }, closed: { critical: 1, low: 0 } } });
    expect((await engine.run(org, next, complete)).by_severity).toEqual(dry.by_severity);
  });
});
