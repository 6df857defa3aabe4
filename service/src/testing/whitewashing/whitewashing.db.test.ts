import { describe, expect, it } from 'vitest';
import { usePackages } from '../evidence/packages.ts';
import { behindProxy } from '../people.ts';
import type { Attempt } from './attempt.ts';
import { type Case, remediate, startCase } from './case.ts';
import { classic } from './classic.ts';
import { further } from './further.ts';
import { own } from './own.ts';
import { rules } from './rules.ts';

const world = usePackages({ idle: true, config: behindProxy });

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
  const attempts = [...classic, ...further, ...rules, ...own];
  it.each(attempts.filter(({ isOpen }) => !isOpen))('$name', (attempt) => expectTruth(attempt));
  it.fails.each(attempts.filter(({ isOpen }) => isOpen))('$name', (attempt) => expectTruth(attempt));
});

describe.each([
  ['as it should be', async (one: Case) => remediate(one)],
  ['with a finding that was withdrawn by hand', (one: Case) => attemptNamed('withdraw a finding by hand').run(one)],
] as const)('a package of work that was done %s', (_, run) => {
  it('verifies, and states what its preview stated', async () => {
    const one = await startCase(world);
    const item = await run(one);
    const { conclusion, completeness } = await one.preview(item);
    const sealed = await one.seal(item);
    expect(sealed).toMatchObject({ status: 'ready', error: null, conclusion, completeness });
  });
});

function attemptNamed(name: string): Attempt {
  const found = [...classic, ...further, ...rules, ...own].find((attempt) => attempt.name === name);
  if (!found) throw new Error(`no attempt is named "${name}"`);
  return found;
}
