import { readdirSync, readFileSync } from 'node:fs';
import { formats } from '@rrs/scan-reports';
import { describe, expect, it } from 'vitest';
import { useImports } from '../testing/imports.ts';

const engine = useImports();
const scope = { asset: { type: 'repository', name: 'https://git.example.com/shop' } } as const;

/** The laws of imports with what tools write, format by format. */
describe.each(formats.map(({ id }) => id))('a report of %s', (format) => {
  const folder = new URL(`../../../scan-reports/src/formats/${format}/fixtures/`, import.meta.url);
  const files = readdirSync(folder).map((name) => ({ format, name, bytes: readFileSync(new URL(name, folder)) }));

  it.each(files)('$name: every record is accounted for, and the same again changes nothing', async (file) => {
    const org = await engine.organization();
    const first = await engine.runFile(org, file, scope);
    expect(first).toMatchObject({ status: 'succeeded', error: null });
    expect(first.received).toBe(first.created + first.updated + first.unchanged + first.reopened + first.rejected);
    const before = await engine.rowsOf(org);
    const again = await engine.runFile(org, file, scope);
    expect(again).toMatchObject({ received: first.received, rejected: first.rejected, created: 0, updated: 0, reopened: 0, closed: 0 });
    expect(await engine.rowsOf(org)).toEqual(before);
    expect(await engine.runFile(org, file, { ...scope, coverage: 'complete' })).toMatchObject({ created: 0, updated: 0, reopened: 0, closed: 0 });
  });
});
