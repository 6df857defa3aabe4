import { beforeAll, describe, expect, test } from 'vitest';
import { type Service, startUsed } from '../service.ts';
import { attacks as otherAttacks } from './attacks.ts';
import { countMistakes, type End, expectedEnd, runCases } from './campaign.ts';
import { decidedHistories } from './decided-histories.ts';
import { breakService, faults } from './faults.ts';
import { histories as scanHistories } from './histories.ts';
import { leftOut } from './left-out.ts';
import { rescanCases } from './rescans.ts';
import { allTools } from './tools.ts';
import type { TruthCase } from './trial.ts';

/**
 * Tries to have the service call something verified that is not, and looks for fixes that it does not see. `npm run test:truth` runs all cases, and shows
 * that they notice a service that is wrong. Other test runs run some of the cases.
 */
const isWhole = process.env.npm_lifecycle_event === 'test:truth';
const histories = [...scanHistories, ...decidedHistories];
const attacks = [...otherAttacks, ...leftOut];
const everyNth = (all: readonly TruthCase[], nth: number): TruthCase[] => all.filter((_, n) => isWhole || n % nth === 0);
const cases = [...everyNth(rescanCases, 24), ...everyNth([...histories, ...attacks], 4)];
const LONGEST_MS = 1_200_000;

const manipulated = rescanCases.filter(({ expected }) => expected[0] !== 'verified');
const honest = rescanCases.filter(({ expected }) => expected[0] === 'verified');

let service: Service & { key: string };
let ends: ReadonlyMap<TruthCase, End> = new Map();

beforeAll(async () => {
  service = await startUsed();
  ends = await runCases(service, cases);
}, LONGEST_MS);

describe('findings are what the scans have shown', () => {
  test.each(cases.map((one) => [one.name, one] as const))('%s', (_, one) => {
    expect(ends.get(one)).toEqual(expectedEnd(one));
  });
});

test('nothing is falsely verified, nothing is hidden, and fixes are noticed', () => {
  const ran = (all: readonly TruthCase[]): number => all.filter((one) => ends.has(one)).length;
  const mistakes = countMistakes(ends);
  const rescans = `${ran(manipulated)} manipulated and ${ran(honest)} honest rescans`;
  process.stdout.write(`${rescans} of ${allTools.length} tools, ${ran(histories)} histories, ${ran(attacks)} attacks: ${JSON.stringify(mistakes)}\n`);
  expect(mistakes).toEqual({ falselyVerified: 0, hidden: 0, unnoticedFixes: 0, other: 0 });
});

test('there are enough cases of enough tools', () => {
  expect(manipulated.length).toBeGreaterThanOrEqual(200);
  expect(honest.length).toBeGreaterThanOrEqual(75);
  expect(new Set(allTools.map(({ format }) => format)).size).toBeGreaterThanOrEqual(9);
});

describe('a service that is wrong is noticed', () => {
  test.each(faults.filter((_, n) => isWhole || n === 0).map((fault, n) => [fault.name, fault, n] as const))(
    '%s',
    async (_, fault, n) => {
      const shown = rescanCases.filter(({ name }) => fault.noticedBy.test(name)).slice(0, 6);
      const repair = await breakService(service, fault);
      const wrong = await runCases(service, shown, 1_000 + n * 10).finally(repair);
      expect(countMistakes(wrong)).toMatchObject({ falselyVerified: expect.toSatisfy((count: number) => count > 0) });
    },
    LONGEST_MS,
  );
});
