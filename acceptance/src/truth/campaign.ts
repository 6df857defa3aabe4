import { call } from '../http.ts';
import { type ListedFinding, startTrial, type TruthCase } from './trial.ts';

interface Reached {
  url: string;
  key: string;
}

/** What a case ended with: the statuses of each weakness, on all its assets and hosts. */
export interface End {
  statuses: Readonly<Record<number, readonly string[]>>;
  error: string | null;
}

const SIDE_BY_SIDE = 6;

/** Runs cases side by side, as the imports of several teams do. No two calls may use the same numbers, so `from` is the first number of this call. */
export async function runCases(service: Reached, cases: readonly TruthCase[], from = 0): Promise<ReadonlyMap<TruthCase, End>> {
  const numbered = cases.map((one, at) => ({ one, trial: { n: from + at, asset: `shop-${from + at}` } }));
  const errors = new Map<TruthCase, string>();
  const next = numbered.values();
  const work = async (): Promise<void> => {
    for (const { one, trial } of next) await one.run(startTrial(service, trial)).catch((error: Error) => errors.set(one, error.message));
  };
  await Promise.all(Array.from({ length: SIDE_BY_SIDE }, work));
  const all = await everyFinding(service);
  const statusesOf = (id: string): string[] => {
    const own = all.filter(({ rule, vulnerability_ids, asset }) => (rule === id || vulnerability_ids.includes(id)) && !asset.name.includes('other-asset'));
    return [...new Set(own.map(({ status }) => status))].sort();
  };
  return new Map(
    numbered.map(({ one, trial }) => {
      const statuses = Object.keys(one.expected).map((n) => [n, statusesOf(one.tool.idOf(trial, Number(n)))] as const);
      return [one, { statuses: Object.fromEntries(statuses), error: errors.get(one) ?? null }];
    }),
  );
}

async function everyFinding({ url, key }: Reached): Promise<ListedFinding[]> {
  const all: ListedFinding[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const from = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const { status, body } = await call(url, `/api/v1/findings?limit=200&sort=created_at${from}`, { key });
    if (status !== 200) throw new Error(`GET /findings: ${status} ${JSON.stringify(body)}`);
    all.push(...(body.data as ListedFinding[]));
    cursor = (body.page as { next_cursor: string | null }).next_cursor;
  }
  return all;
}

type Expected = TruthCase['expected'][number];

function listed(expected: Expected | undefined): readonly string[] {
  return expected === null || expected === undefined ? [] : typeof expected === 'string' ? [expected] : expected;
}

/** The statuses that a case must end with, in the form of `End`. */
export function expectedEnd({ expected }: TruthCase): End {
  return { statuses: Object.fromEntries(Object.entries(expected).map(([n, status]) => [n, listed(status)])), error: null };
}

/** What is wrong with the end of a case, by what it means for who relies on the service. */
export interface Mistakes {
  /** Called verified although nothing proves it. */
  falselyVerified: number;
  /** Not open although it is there. */
  hidden: number;
  /** Not verified although it is proven to be gone. */
  unnoticedFixes: number;
  other: number;
}

function mistakesOf(one: TruthCase, { statuses, error }: End): Mistakes {
  const mistakes = { falselyVerified: 0, hidden: 0, unnoticedFixes: 0, other: error === null ? 0 : 1 };
  for (const n of Object.keys(one.expected).map(Number)) {
    const [found, expected] = [statuses[n] ?? [], listed(one.expected[n])];
    if (found.join() === expected.join()) continue;
    if (found.includes('verified') && !expected.includes('verified')) mistakes.falselyVerified++;
    else if (expected.includes('open') && !found.includes('open')) mistakes.hidden++;
    else if (expected.includes('verified')) mistakes.unnoticedFixes++;
    else mistakes.other++;
  }
  return mistakes;
}

/** The mistakes of all cases together. */
export function countMistakes(ends: ReadonlyMap<TruthCase, End>): Mistakes {
  const total = { falselyVerified: 0, hidden: 0, unnoticedFixes: 0, other: 0 };
  for (const [one, end] of ends) {
    const own = mistakesOf(one, end);
    for (const kind of ['falselyVerified', 'hidden', 'unnoticedFixes', 'other'] as const) total[kind] += own[kind];
  }
  return total;
}
