import { describe, expect, it } from 'vitest';
import { usePackages } from '../evidence/packages.ts';
import { behindProxy } from '../people.ts';
import { apart } from './apart.ts';
import type { Attempt } from './attempt.ts';
import { type Case, remediate, startCase } from './case.ts';
import { classic } from './classic.ts';
import { delivery } from './delivery.ts';
import { disguise } from './disguise.ts';
import { further } from './further.ts';
import { own } from './own.ts';
import { relabel } from './relabel.ts';
import { daysAgo } from './reports.ts';
import { restored } from './restored.ts';
import { rules } from './rules.ts';

const world = usePackages({ idle: true, config: { ...behindProxy, RRS_OUTBOUND_ALLOW: '127.0.0.0/8' } });

const attempts = [...classic, ...further, ...rules, ...own, ...delivery, ...disguise, ...relabel, ...restored, ...apart];
const GRADES = ['A', 'B', 'C', 'D'];

async function expectTruth({ run, conclusion, atBest, gaps }: Attempt): Promise<void> {
  const one = await startCase(world);
  const stated = await one.preview(await run(one));
  const codes = stated.completeness.gaps.map(({ code, weight }) => `${code} ${weight}`);
  expect({ conclusion: stated.conclusion, codes, missing: gaps.filter((gap) => !codes.some((code) => code.startsWith(`${gap} `))) }).toEqual({
    conclusion,
    codes,
    missing: [],
  });
  expect(GRADES.indexOf(stated.completeness.grade), `grade ${stated.completeness.grade}, ${codes.join(', ')}`).toBeGreaterThanOrEqual(GRADES.indexOf(atBest));
}

it('work that was done as it should be is remediated, with small gaps only', async () => {
  const one = await startCase(world);
  const item = await remediate(one);
  expect(await one.approve(item)).toMatchObject({ status: 201, body: { independent: true } });
  const { conclusion, completeness } = await one.preview(item);
  expect({ conclusion, grade: completeness.grade, gaps: completeness.gaps.filter(({ weight }) => weight === 'major') }).toEqual({
    conclusion: 'remediated',
    grade: 'B',
    gaps: [],
  });
});

describe.concurrent('evidence tells the truth if somebody tries to', () => {
  it.each(attempts)('$name', (attempt) => expectTruth(attempt));
});

it('the next release counts if the scans before and after are both labelled as production', async () => {
  const one = await startCase(world);
  await one.scan({ weaknesses: [1], image: 'registry.example/shop:1.0.0', at: daysAgo(3) }, { scope: { track: 'prod' } });
  const item = await one.item(1);
  await one.scan({ weaknesses: [], image: 'registry.example/shop:1.0.1', build: 2 }, { scope: { track: 'prod' } });
  expect(await one.preview(item)).toMatchObject({ conclusion: 'remediated' });
});

describe.each([
  ['as it should be', async (one: Case) => remediate(one)],
  ['with a finding that was withdrawn by hand', (one: Case) => attemptNamed('withdraw a finding by hand').run(one)],
  [
    'with rescans of two scanners',
    (one: Case) => attemptNamed('let the worker upload the rescan of the scanner that still sees it, next to that of another one').run(one),
  ],
] as const)('a package of work that was done %s', (_, run) => {
  it('verifies, and states what its preview stated', async () => {
    const one = await startCase(world);
    const item = await run(one);
    const { conclusion, completeness } = await one.preview(item);
    const sealed = await one.seal(item);
    expect(sealed).toMatchObject({ status: 'ready', error: null, conclusion, completeness });
  });
});

it('a package that is requested without the report has the register of decisions all the same', async () => {
  const one = await startCase(world);
  const item = await attemptNamed('withdraw a finding by hand').run(one);
  const { package_id, status, files } = await one.seal(item, ['csv']);
  expect(status).toBe('ready');
  expect(files.map(({ path }) => path)).toEqual(
    expect.arrayContaining(['data/evidence.json', 'data/findings.jsonl', 'data/audit-trail.jsonl', 'data/report.html']),
  );
  expect(await one.download(package_id, 'html')).toContain('not relevant');
});

it('a good package is superseded when a scan shows the finding again, and its status statement says so', async () => {
  const one = await startCase(world);
  const item = await remediate(one);
  const { package_id, conclusion } = await one.seal(item);
  expect(conclusion).toBe('remediated');
  await one.scan({ weaknesses: [1, 10], build: 3 });
  expect(await one.call('lead', 'GET', `/riskops-evidence/packages/${package_id}`)).toMatchObject({ status: 'superseded' });
  const statement = await one.call<{ payload: string }>('lead', 'GET', `/riskops-evidence/packages/${package_id}/status-statement`);
  expect(JSON.parse(Buffer.from(statement.payload, 'base64').toString())).toMatchObject({ predicate: { package_id, status: 'superseded' } });
});

function attemptNamed(name: string): Attempt {
  const found = attempts.find((attempt) => attempt.name === name);
  if (!found) throw new Error(`no attempt is named "${name}"`);
  return found;
}
