import { observation } from '@rrs/scan-reports/normalize.ts';
import { expect, test } from 'vitest';
import { newId } from '../../../shared/ids.ts';
import { reportAssets } from '../report-assets.ts';
import { stageReport } from './stage-report.ts';

const host = { type: 'host', name: 'web1' } as const;

/** Stages this many records, in batches of 1,000. */
function stage(records: number, steps: Pick<Parameters<typeof stageReport>[2], 'stageKnown' | 'copy'>) {
  const read = async function* () {
    for (let n = 0; n < records; n++) yield { observation: observation({ place: `${n}`, tool: 'tool', title: `Weakness ${n}`, severity: 'low', asset: host }) };
  };
  const format = { id: 'made', name: '', description: '', documentation: '', expects: '', assetType: 'host', detect: () => false, read } as const;
  const input = { filename: null, open: async function* () {} };
  return stageReport(format, input, {
    orgId: newId(),
    importId: newId(),
    origin: 'made',
    assets: reportAssets({}, 'host', { track_names: [] }),
    onProgress: async () => {},
    ...steps,
  });
}

test('looks up the next records while those before are written', async () => {
  const steps: string[] = [];
  const asked = Promise.withResolvers<void>();
  let lookups = 0;
  const { seen } = await stage(3_000, {
    stageKnown: async ({ contents }) => {
      steps.push(`look up ${contents.length}`);
      if (++lookups === 2) asked.resolve();
      return [0, 999];
    },
    copy: async (table) => {
      if (table !== 'import_rows') return;
      // Were the second batch looked up later, this would wait forever.
      await asked.promise;
      steps.push('written');
    },
  });
  expect(seen).toBe(6);
  expect(steps.slice(0, 3)).toEqual(['look up 1000', 'look up 1000', 'written']);
});

test('fails with the first error, and not before everything that is under way has ended', async () => {
  const written = Promise.withResolvers<void>();
  let lookups = 0;
  let isWritten = false;
  const staged = stage(5_000, {
    stageKnown: async () => {
      if (++lookups < 2) return [];
      setImmediate(written.resolve);
      throw new Error('the database is gone');
    },
    copy: async (table) => {
      if (table !== 'import_rows') return;
      await written.promise;
      isWritten = true;
    },
  });
  await expect(staged.catch((error) => Promise.reject(new Error(`${error.message}, written: ${isWritten}`)))).rejects.toThrow(
    'the database is gone, written: true',
  );
});
