import { withEngine } from '../../service/src/testing/truth/engine.ts';
import { type KeptResult, measureImageDecisions, measureRepositoryDecisions } from '../../service/src/testing/truth/kept-decisions.ts';
import { measureLabelledPairs } from '../../service/src/testing/truth/labelled/measure.ts';
import { measureOrderLaw, measureRepeats, ownReports, readCorpus, relatedPairs } from '../../service/src/testing/truth/order-law.ts';
import { manipulatedRescans, measureHonestRescans, measureRescans } from '../../service/src/testing/truth/rescans.ts';
import type { Result } from './results.ts';

export interface Sizes {
  /** Invented worlds that all tools report on. */
  worlds: number;
  /** Different reports for each manipulation of a rescan. */
  rescans: number;
  /** Every so many pairs of reports are imported in both orders, and every ten times as many twice. */
  everyPair: number;
  /** Builds of an image and commits of a repository. */
  builds: number;
  /** A folder with real reports. Null: the reports of this repository. */
  reports: string | null;
}

/** TRUTH: whether findings are what the tools saw. Nothing here is a speed, so the figures are the same on every machine. What is wrong goes to standard error. */
export async function truth({ worlds, rescans, everyPair, builds, reports }: Sizes): Promise<Result[]> {
  return withEngine(async (engine) => {
    const seeds = Array.from({ length: worlds }, (_, seed) => seed);
    const pairs = await measureLabelledPairs(engine, seeds);
    explain([...pairs.examples, ...[...pairs.missedBy].map(([tools, count]) => `missed ${count} times: ${tools}`)]);
    const what = `${pairs.right + pairs.missed} labelled pairs of ${pairs.records} records of ${pairs.tools.length} tools`;
    const manipulated = await measureRescans(engine, manipulatedRescans(rescans));
    explain(manipulated.falselyVerified);
    const honest = await measureHonestRescans(engine, rescans);
    const related = relatedPairs(await readCorpus(reports ?? ownReports)).filter((_, n) => n % everyPair === 0);
    const order = await measureOrderLaw(engine, related);
    explain(order.different);
    const repeated = await measureRepeats(
      engine,
      related.filter((_, n) => n % 10 === 0),
    );
    explain(repeated.different);
    const ofImage = await measureImageDecisions(engine, builds);
    const ofRepository = await measureRepositoryDecisions(engine, builds);
    explain([...ofImage.lost, ...ofRepository.lost]);
    return [
      { id: 'TRUTH', what: `precision over ${what}`, figure: pairs.precision.toFixed(4), bar: '≥ 0.995', met: pairs.precision >= 0.995 },
      { id: 'TRUTH', what: `recall over ${what}`, figure: pairs.recall.toFixed(4), bar: '≥ 0.97', met: pairs.recall >= 0.97 },
      {
        id: 'TRUTH',
        what: `${manipulated.rescans} manipulated rescans with a false \`verified\``,
        figure: String(manipulated.falselyVerified.length),
        bar: '0',
        met: manipulated.falselyVerified.length === 0,
      },
      {
        id: 'TRUTH',
        what: `${honest.rescans} honest rescans that verify what they no longer show`,
        figure: percent(honest.verified, honest.rescans),
        bar: '100 %',
        met: honest.verified === honest.rescans,
      },
      {
        id: 'TRUTH',
        what: `${order.pairs} pairs of ${reports === null ? 'reports of this repository' : 'real reports'} with the same findings in both orders`,
        figure: percent(order.equal, order.pairs),
        bar: '100 %',
        met: order.equal === order.pairs,
      },
      {
        id: 'TRUTH',
        what: `${repeated.pairs} pairs of these reports that change nothing when they are imported again`,
        figure: percent(repeated.equal, repeated.pairs),
        bar: '100 %',
        met: repeated.equal === repeated.pairs,
      },
      decisionsKept(`${builds} versions of one image`, ofImage),
      decisionsKept(`${builds} commits of one repository`, ofRepository),
    ];
  });
}

function decisionsKept(over: string, { kept, decisions }: KeptResult): Result {
  return { id: 'TRUTH', what: `decisions kept over ${over} (${decisions} looked at)`, figure: percent(kept, decisions), bar: '100 %', met: kept === decisions };
}

/** Rounded down, so that 100 % means all. */
function percent(part: number, whole: number): string {
  return `${Math.floor((1000 * part) / whole) / 10} %`;
}

function explain(lines: readonly string[]): void {
  for (const line of lines) process.stderr.write(`${line}\n`);
}
