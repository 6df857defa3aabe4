import { withEngine } from '../../service/src/testing/truth/engine.ts';
import { measureLabelledPairs } from '../../service/src/testing/truth/labelled/measure.ts';
import type { Result } from './results.ts';

export interface Sizes {
  /** Invented worlds that all tools report on. */
  worlds: number;
  /** A folder with further reports, for the order law. */
  reports: string | null;
}

/** TRUTH: whether findings are what the tools saw. Nothing here is a speed, so the figures are the same on every machine. */
export async function truth({ worlds }: Sizes): Promise<Result[]> {
  return withEngine(async (engine) => {
    const pairs = await measureLabelledPairs(
      engine,
      Array.from({ length: worlds }, (_, seed) => seed),
    );
    process.stderr.write(`${[...pairs.examples, ...[...pairs.missedBy].map(([tools, count]) => `missed ${count}: ${tools}`)].join('\n')}\n`);
    const what = `${pairs.right + pairs.missed} labelled pairs of ${pairs.records} records of ${pairs.tools.length} tools`;
    return [
      { id: 'TRUTH', what: `precision over ${what}`, figure: pairs.precision.toFixed(4), bar: '≥ 0.995', met: pairs.precision >= 0.995 },
      { id: 'TRUTH', what: `recall over ${what}`, figure: pairs.recall.toFixed(4), bar: '≥ 0.97', met: pairs.recall >= 0.97 },
    ];
  });
}
