import { readdirSync, readFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import { formats } from '@rrs/scan-reports';
import { describe, expect, it } from 'vitest';
import { type FindingState, type Item, useImports } from '../../testing/findings/imports.ts';

const engine = useImports();
const shop = { asset: { type: 'repository', name: 'https://git.example.com/shop' } } as const;

/** A report about several assets names all of them, and one about an image with a digest cannot be about a repository. */
const namesAssets = ({ error }: { error: string | null }) => /several assets|and `scan_scope\.asset` says that it is a/.test(error ?? '');

/** The identity and status of all findings. Other fields depend on which of several records was imported last. */
const identitiesOf = (found: readonly FindingState[]) =>
  found.map(({ asset, weakness, identity_key, status }) => `${asset} ${weakness} ${identity_key} ${status}`).sort();

/** The invariants of imports, with real reports of every format. */
describe.each(formats.map(({ id }) => id))('a report in the format %s', (format) => {
  const folder = new URL(`../../../../scan-reports/src/formats/${format}/fixtures/`, import.meta.url);
  const files = readdirSync(folder).map((name) => ({ format, name, bytes: readFileSync(new URL(name, folder)) }));

  it.each(files)('$name: every record is counted, and a second import changes nothing', async (file) => {
    const org = await engine.organization();
    const attempt = await engine.runFile(org, file, shop);
    const [first, scope] = namesAssets(attempt) ? [await engine.runFile(org, file, {}), {}] : [attempt, shop];
    expect(first).toMatchObject({ status: 'succeeded', error: null });
    expect(first.received).toBe(first.created + first.updated + first.unchanged + first.reopened + first.rejected);
    const before = await engine.rowsOf(org);
    const again = await engine.runFile(org, file, { ...scope, coverage: 'complete' });
    expect(again).toMatchObject({ received: first.received, rejected: first.rejected, created: 0, updated: 0, reopened: 0, closed: 0 });
    expect(await engine.rowsOf(org)).toEqual(before);
  });

  it('gives the same result in another order, in two parts and in two parallel parts', async () => {
    const known = formats.find(({ id }) => id === format);
    const bytes = files[0]?.bytes ?? Buffer.alloc(0);
    const items: Item[] = [];
    const input = { filename: null, open: () => Readable.from([bytes]) as AsyncIterable<Uint8Array> };
    for await (const item of known?.read(input) ?? []) if ('observation' in item && items.length < 100) items.push(item.observation);
    const half = Math.ceil(items.length / 2);
    const scope = namesAssets(await engine.run(await engine.organization(), items, { scope: shop })) ? {} : shop;
    const options = { scope: { ...scope, started_at: '2026-11-01T00:00:00.000Z' } };
    const ways: ((org: string) => Promise<unknown>)[] = [
      (org) => engine.run(org, items, options),
      (org) => engine.run(org, items.toReversed(), options),
      async (org) => {
        await engine.run(org, items.slice(half), options);
        await engine.run(org, items.slice(0, half), options);
      },
      (org) => Promise.all([engine.run(org, items.slice(0, half), options), engine.run(org, items.slice(half), options)]),
    ];
    const states: string[][] = [];
    for (const bring of ways) {
      const org = await engine.organization();
      await bring(org);
      states.push(identitiesOf(await engine.findings(org)));
    }
    expect(states).toEqual(ways.map(() => states[0]));
  });
});
