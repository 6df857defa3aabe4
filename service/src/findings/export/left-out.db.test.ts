import { expect, it } from 'vitest';
import { inLib, useImports } from '../../testing/findings/imports.ts';
import { exportAssets, exportPages } from './export.ts';
import { exportFormats } from './formats.ts';

const engine = useImports();

it.each(['csv', 'ndjson', 'sarif', 'openvex'] as const)('a filtered export as %s closes nothing that it leaves out', async (name) => {
  const [from, into] = [await engine.organization(), await engine.organization()];
  await engine.run(from, [inLib('a', { severity: 'critical' }), inLib('b', { severity: 'low' })]);
  const exported = async (filter: { severity?: ['critical'] }) => {
    const context = { organization: 'Acme', started: new Date(), assets: () => exportAssets(engine.db(), from, filter, new Date()) };
    const parts: string[] = [];
    for await (const part of exportFormats[name].write(exportPages(engine.db(), from, filter), context)) parts.push(part);
    const file = { format: null, name: `findings.${exportFormats[name].extension}`, bytes: Buffer.from(parts.join('')) };
    return engine.runFile(into, file, { coverage: 'complete' });
  };
  expect(await exported({})).toMatchObject({ created: 2 });
  const { closed, notes } = await exported({ severity: ['critical'] });
  expect({ closed, notes: JSON.stringify(notes) }).toEqual({ closed: 0, notes: expect.stringContaining('Only a scan can prove a fix') });
  expect((await engine.findings(into)).map(({ status }) => status)).toEqual(['open', 'open']);
});
