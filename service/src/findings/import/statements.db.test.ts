import pg from 'pg';
import { expect, it, vi } from 'vitest';
import { inLib, useImports } from '../../testing/findings/imports.ts';

const engine = useImports();

/** Planning takes longer than running for most statements of a small import, so one that has nothing to do is left out. See ADR 27. */
it('a small import runs few statements', async () => {
  const org = await engine.organization();
  const items = ['a', 'b', 'c', 'd', 'e'].map((component) => inLib(component));
  const query = vi.spyOn(pg.Client.prototype, 'query');
  const statements = async (): Promise<number> => {
    query.mockClear();
    await engine.run(org, items);
    return query.mock.calls.length;
  };
  const [first, again] = [await statements(), await statements()];
  query.mockRestore();
  expect({ first: first <= 75, again: again <= 70 }, `${first} and ${again} statements`).toEqual({ first: true, again: true });
});
