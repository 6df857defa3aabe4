import { expect, test } from 'vitest';
import { useImports } from '../findings/imports.ts';
import { measureImageDecisions, measureRepositoryDecisions } from './kept-decisions.ts';
import { measureLabelledPairs } from './labelled/measure.ts';
import { measureOrderLaw, measureRepeats, ownReports, readCorpus, relatedPairs } from './order-law.ts';

/** The short form of `npm run bench truth`. The manipulated rescans are in `absence/manipulated-rescans.db.test.ts`. */
const engine = useImports();

test('records of different tools meet if and only if they are about the same weakness', async () => {
  const { precision, recall, tools, examples } = await measureLabelledPairs(engine, [1], 1);
  expect(tools.length).toBeGreaterThanOrEqual(9);
  expect(precision, examples.join('\n')).toBeGreaterThanOrEqual(0.995);
  expect(recall, examples.join('\n')).toBeGreaterThanOrEqual(0.97);
});

test('two reports give the same findings in both orders', async () => {
  const pairs = relatedPairs(await readCorpus(ownReports)).filter((_, n) => n % 60 === 7);
  expect((await measureOrderLaw(engine, pairs)).different).toEqual([]);
});

test('reports that are imported again change nothing', async () => {
  const pairs = relatedPairs(await readCorpus(ownReports)).filter((_, n) => n % 200 === 11);
  expect((await measureRepeats(engine, pairs)).different).toEqual([]);
});

test('decisions survive new builds and new commits', async () => {
  expect((await measureImageDecisions(engine, 3)).lost).toEqual([]);
  expect((await measureRepositoryDecisions(engine, 3)).lost).toEqual([]);
});
