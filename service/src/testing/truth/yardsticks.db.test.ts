import { expect, test } from 'vitest';
import { useImports } from '../findings/imports.ts';
import { measureLabelledPairs } from './labelled/measure.ts';

const engine = useImports();

test('records of different tools meet if and only if they are about the same weakness', async () => {
  const result = await measureLabelledPairs(engine, [1]);
  console.log(JSON.stringify({ ...result, missedBy: [...result.missedBy] }, null, 1));
  expect(result.precision).toBeGreaterThanOrEqual(0.995);
  expect(result.recall).toBeGreaterThanOrEqual(0.97);
}, 120_000);
