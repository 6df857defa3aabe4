import type { Observation } from '@rrs/scan-reports';
import { beforeEach, describe, expect, it } from 'vitest';
import { systemActor } from '../../../shared/actor.ts';
import { type ImportOptions, type Item, seen, useImports } from '../../../testing/findings/imports.ts';
import { updateFinding } from '../../triage/triage.ts';

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

  it('is not hidden by a decision on other code that may be gone', async () => {
    await run([at(10), at(30)]);
    await dismiss(10);
    await run([at(12)]);
    expect(await state()).toEqual(['src/a.ts:10 false_positive', 'src/a.ts:12 open']);
  });

  it('is not covered by a decision on other code', async () => {
    const quoted = (line: number, snippet: string) => at(line, { location: { path: 'src/a.ts', line, snippet } });
    await run([quoted(10, 'eval(a)')]);
    await dismiss(10);
    await run([quoted(14, 'eval(b)')]);
    expect(await state()).toEqual(['src/a.ts:10 false_positive', 'src/a.ts:14 open']);
  });

  it('is closed if it is gone while the rest moved', async () => {
    await run([at(10), at(20), at(30)]);
    expect(await run([at(12), at(32)])).toMatchObject({ created: 0, closed: 1 });
    expect(await state()).toEqual(['src/a.ts:12 open', 'src/a.ts:20 verified', 'src/a.ts:32 open']);
  });

  it.each<[string, Observation]>([
    ['with other code far away', at(500, { location: { path: 'src/a.ts', line: 500, snippet: 'eval(b)' } })],
    ['in another file', at(6, { location: { path: 'src/b.ts', line: 6 } })],
    ['with other words', at(6, { title: 'Something else' })],
    ['of another rule', at(6, { rule: 'xss' })],
    ['with a mark of its own', at(6, { location: { path: 'src/a.ts', line: 6, fingerprint: 'f' } })],
  ])('is a different finding %s', async (_, other) => {
    await run([at(5, { location: { path: 'src/a.ts', line: 5, snippet: 'eval(a)' } })]);
    expect(await run([other])).toMatchObject({ created: 1, closed: 1 });
  });

  it('is the same finding anywhere in the file if the code is the same, or if there is as much of it', async () => {
    const quoted = (line: number, snippet: string) => at(line, { rule: 'xss', location: { path: 'src/a.ts', line, snippet } });
    await run([at(5), quoted(6, 'eval(a)'), quoted(7, 'eval(b)')]);
    const before = await byLine();
    expect(await run([at(500), quoted(600, 'eval(b)')])).toMatchObject({ created: 0, closed: 1 });
    const after = await byLine();
    expect([after.get(500), after.get(600)]).toEqual([before.get(5), before.get(7)]);
  });

  it('is a different finding in a partial run', async () => {
    await run([at(5)]);
    expect(await run([at(6)], { asset: shop })).toMatchObject({ created: 1, closed: 0 });
    expect(await state()).toEqual(['src/a.ts:5 open', 'src/a.ts:6 open']);
  });

  it('is not covered in a partial run by the decision on a line next to it', async () => {
    await run([at(5)]);
    await dismiss(5);
    expect(await run([at(6)], { asset: shop })).toMatchObject({ created: 1, closed: 0 });
    expect(await state()).toEqual(['src/a.ts:5 false_positive', 'src/a.ts:6 open']);
  });

  it('does not move findings of another source', async () => {
    await run([at(5)]);
    expect(await engine.run(org, [at(6)], { source: 'tool_b', scope: complete })).toMatchObject({ created: 1, closed: 0 });
  });
});

describe('code with a fingerprint of the tool', () => {
  const print = (path: string, fingerprint = 'f1') => at(1, { location: { path, line: 1, fingerprint } });

  it('keeps its finding when its file is renamed', async () => {
    await run([print('src/old.ts'), print('src/other.ts', 'f2')]);
    await dismiss(1);
    const before = await engine.findings(org);
    expect(await run([print('src/new.ts'), print('src/other.ts', 'f2')])).toMatchObject({ created: 0, closed: 0 });
    expect((await engine.findings(org)).map(({ id }) => id).sort()).toEqual(before.map(({ id }) => id).sort());
    expect(await state()).toContainEqual(expect.stringContaining('src/new.ts'));
  });

  it.each<[string, Observation[], Observation[], { created: number; closed: number }]>([
    ['was copied', [print('a.ts')], [print('a.ts'), print('b.ts')], { created: 1, closed: 0 }],
    ['was in several files', [print('a.ts'), print('b.ts')], [print('c.ts')], { created: 1, closed: 2 }],
    ['is in several files now', [print('a.ts')], [print('b.ts'), print('c.ts')], { created: 2, closed: 1 }],
    ['has another rule there', [print('a.ts')], [{ ...print('b.ts'), rule: 'xss' }], { created: 1, closed: 1 }],
  ])('is a different finding in another file if it %s', async (_, before, now, expected) => {
    await run(before);
    expect(await run(now)).toMatchObject(expected);
  });

  it('is not taken for renamed in a partial run', async () => {
    await run([print('a.ts')]);
    expect(await run([print('b.ts')], { asset: shop })).toMatchObject({ created: 1, closed: 0 });
  });
});
