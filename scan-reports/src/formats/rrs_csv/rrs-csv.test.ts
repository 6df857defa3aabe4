import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { fromBuffer } from '../../shared/input.ts';
import { readAll } from '../../testing/reading.ts';
import { rrsNdjson } from '../rrs_ndjson/index.ts';
import { rrsCsv } from './index.ts';

const fixture = (path: string) => fromBuffer(readFileSync(new URL(path, import.meta.url)), path);
const HEADER = 'id,title,status,severity,risk_score,asset_type,asset_name';
const read = (name: string) => readAll(rrsCsv, fixture(`fixtures/${name}`));

test('says the same as the NDJSON export', async () => {
  const { observations, rejections } = await read('findings.csv');
  const other = await readAll(rrsNdjson, fixture('../rrs_ndjson/fixtures/findings.ndjson'));
  expect(rejections).toEqual([]);
  expect(observations.map(({ place: _, epss: _epss, tool: _tool, ...rest }) => rest)).toEqual(
    other.observations.map(({ place: _, epss: _epss, tool: _tool, ...rest }) => rest),
  );
  expect(observations.map(({ tool }) => tool)).toEqual(['trivy', 'semgrep', 'trivy', 'trivy', 'nessus', 'zap', 'trivy']);
  expect(observations[0]?.epss).toEqual({ score: 0.94 });
});

test('removes only the apostrophe that the export added', async () => {
  const titles = ['=a', "'=a", "''-a", "'a", 'a', "'", '@a'];
  const cells = ["'=a", "''=a", "'''-a", "'a", 'a', "'", "'@a"];
  const text = [HEADER, ...cells.map((cell) => `1,${cell},open,low,1,host,web1`), ''].join('\n');
  expect((await readAll(rrsCsv, fromBuffer(text))).observations.map(({ title }) => title)).toEqual(titles);
});

test('reads exports without the columns that were added later', async () => {
  const { observations, rejections } = await read('first-columns.csv');
  expect(observations).toMatchObject([
    { rule: null, vulnerability_ids: ['CVE-2021-44228', 'GHSA-jfh8-c2jp-5v3q'], description: null },
    { rule: '=cmd, a formula', tool: 'sarif', location: { path: 'src/a.py', line: 7 } },
  ]);
  expect(rejections).toEqual([{ place: 'line 3', reason: 'title is missing' }]);
});

test('accepts an export without findings and rejects another file', async () => {
  expect(await readAll(rrsCsv, fromBuffer(`${HEADER}\r\n`))).toEqual({ observations: [], rejections: [], runs: [] });
  for (const foreign of ['', '{}', 'title,severity\na,low\n'])
    await expect(readAll(rrsCsv, fromBuffer(foreign)), foreign).rejects.toThrow('Expected a CSV export');
});
