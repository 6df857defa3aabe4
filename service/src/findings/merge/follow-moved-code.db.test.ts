import type { Observation } from '@rrs/scan-reports';
import { beforeEach, describe, expect, it } from 'vitest';
import { systemActor } from '../../shared/actor.ts';
import { type ImportOptions, type Item, seen, useImports } from '../../testing/findings/imports.ts';
import { updateFinding } from '../triage/triage.ts';

const engine = useImports();
let org: string;
beforeEach(async () => {
  org = await engine.organization();
});

const shop = { type: 'repository', name: 'shop' } as const;
const complete: ImportOptions['scope'] = { coverage: 'complete', asset: shop };
const at = (line: number, given: Partial<Observation> = {}): Observation =>
  seen({ rule: 'sql', tool: 'semgrep', asset: shop, location: { path: 'src/a.ts', line }, ...given });
const run = (items: readonly Item[], scope = complete) => engine.run(org, items, scope ? { scope } : {});
const state = async () => {
  const found = await engine.findings(org);
  return found.map(({ location, status }) => `${location.path}:${location.line} ${status}`).sort();
};
const byLine = async () => new Map((await engine.findings(org)).map(({ location, id }) => [location.line, id]));

async function dismiss(line: number): Promise<void> {
  const id = (await byLine()).get(line) ?? '';
  const patch = { status: 'false_positive', justification: 'inaccurate_finding', reason: 'looked at' } as const;
  await engine.db().withTenant({ orgId: org }, (tx) => updateFinding(tx, systemActor(org, 'Ada'), { id, patch, check: () => {} }, engine.follower));
}

describe('code that is identified only by its line', () => {
  it('keeps its finding and triage when lines are inserted above it', async () => {
    await run([at(5), at(9, { rule: 'xss' })]);
    await dismiss(5);
    const before = await byLine();
    expect(await run([at(6), at(10, { rule: 'xss' })])).toMatchObject({ created: 0, updated: 2, closed: 0 });
    expect(await state()).toEqual(['src/a.ts:10 open', 'src/a.ts:6 false_positive']);
    expect((await byLine()).get(6)).toBe(before.get(5));
    expect(await run([at(6), at(10, { rule: 'xss' })])).toMatchObject({ updated: 0, unchanged: 2, closed: 0 });
  });

  it('keeps its order when one takes the line that another leaves', async () => {
    await run([at(10), at(11), at(30)]);
    await dismiss(10);
    const before = await byLine();
    expect(await run([at(11), at(12), at(30)])).toMatchObject({ created: 0, closed: 0 });
    const after = await byLine();
    expect([after.get(11), after.get(12), after.get(30)]).toEqual([before.get(10), before.get(11), before.get(30)]);
    expect(await state()).toEqual(['src/a.ts:11 false_positive', 'src/a.ts:12 open', 'src/a.ts:30 open']);
  });

  it('is closed if it is gone while the rest moved', async () => {
    await run([at(10), at(20), at(30)]);
    expect(await run([at(12), at(32)])).toMatchObject({ created: 0, closed: 1 });
    expect(await state()).toEqual(['src/a.ts:12 open', 'src/a.ts:20 verified', 'src/a.ts:32 open']);
  });

  it.each<[string, Observation]>([
    ['far away', at(500)],
    ['in another file', at(6, { location: { path: 'src/b.ts', line: 6 } })],
    ['with other words', at(6, { title: 'Something else' })],
    ['of another rule', at(6, { rule: 'xss' })],
    ['with a mark of its own', at(6, { location: { path: 'src/a.ts', line: 6, fingerprint: 'f' } })],
  ])('is a different finding %s', async (_, other) => {
    await run([at(5)]);
    expect(await run([other])).toMatchObject({ created: 1, closed: 1 });
  });

  it('is a different finding in a partial run', async () => {
    await run([at(5)]);
    expect(await run([at(6)], { asset: shop })).toMatchObject({ created: 1, closed: 0 });
    expect(await state()).toEqual(['src/a.ts:5 open', 'src/a.ts:6 open']);
  });

  it('does not move findings of another source', async () => {
    await run([at(5)]);
    expect(await engine.run(org, [at(6)], { source: 'tool_b', scope: complete })).toMatchObject({ created: 1, closed: 0 });
  });
});
