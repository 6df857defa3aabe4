import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type Asset, detectFormat, formats, fromBuffer, headOf, type Observation } from '@rrs/scan-reports';
import type { ScanScope } from '../../findings/import/manage-imports.ts';
import type { Engine } from '../findings/imports.ts';

/** A report as it is on disk, with what it has in common with others. */
export interface CorpusReport {
  name: string;
  format: string;
  bytes: Uint8Array;
  /** Whether the caller cannot say that the report is about a repository: it names several assets, or one that cannot be a repository. */
  namesAssets: boolean;
  /** Tools and ids of vulnerabilities. Reports without a common one cannot be about the same finding. */
  about: Set<string>;
  /** When the report says that the scan took place, or that the tool last looked. */
  time: number | null;
}

/** The reports that were written for the formats of this repository. */
export const ownReports = join(import.meta.dirname, '../../../../scan-reports/src/formats');

const MOST_BYTES = 400_000;

/** All reports below a folder that can be read and have findings. */
export async function readCorpus(folder: string): Promise<CorpusReport[]> {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => !name.endsWith('.ts'))
    .map((name) => ({ name, path: join(folder, name) }))
    .filter(({ path }) => statSync(path).isFile() && statSync(path).size <= MOST_BYTES)
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  const reports = await Promise.all(files.map(({ name, path }) => readReport(name, readFileSync(path))));
  return reports.filter((report) => report !== null);
}

async function readReport(name: string, bytes: Uint8Array): Promise<CorpusReport | null> {
  const input = fromBuffer(bytes, name.split('/').at(-1) ?? null);
  try {
    const format = detectFormat(formats, await headOf(input));
    if (!format) return null;
    const observations: Observation[] = [];
    const assets: (Asset | null)[] = [];
    let time: number | null = null;
    let looked: number | null = null;
    for await (const item of format.read(input)) {
      if ('observation' in item) {
        observations.push(item.observation);
        assets.push(item.observation.asset);
        looked = Math.max(looked ?? 0, item.observation.last_seen?.getTime() ?? 0) || null;
      } else if ('run' in item) {
        assets.push(item.run.asset ?? null);
        time = item.run.finished_at?.getTime() ?? time;
      }
    }
    if (observations.length === 0) return null;
    const about = new Set(observations.flatMap(({ tool, vulnerability_ids }) => [`tool ${tool}`, ...vulnerability_ids]));
    return { name, format: format.id, bytes, namesAssets: countAssets(assets) > 1 || assets.some(isNoRepository), about, time: time ?? looked };
  } catch {
    return null;
  }
}

/** Only images have digests, and only resources of a cloud have ARNs. */
const isNoRepository = (asset: Asset | null): boolean => asset?.identifiers?.some(({ kind }) => kind === 'digest' || kind === 'arn') ?? false;

function countAssets(assets: readonly (Asset | null)[]): number {
  return new Set(assets.flatMap((asset) => (asset ? [`${asset.type} ${asset.name}`] : []))).size;
}

export type ReportPair = readonly [CorpusReport, CorpusReport];

/** Every pair of reports that can be about the same finding of one asset. Two reports of one moment that contradict each other have no order. */
export function relatedPairs(corpus: readonly CorpusReport[]): ReportPair[] {
  const areOfOneMoment = (one: CorpusReport, other: CorpusReport) => one.time !== null && one.time === other.time;
  return corpus.flatMap((one, at) =>
    corpus
      .slice(at + 1)
      .flatMap((other) => ([...one.about].some((subject) => other.about.has(subject)) && !areOfOneMoment(one, other) ? [[one, other] as const] : [])),
  );
}

export interface OrderResult {
  pairs: number;
  equal: number;
  /** The pairs whose result depends on the order, with the first line that differs. */
  different: string[];
}

/** Imports both reports in both orders, each order in an organization of its own. Returns what differs, except when it was written. */
async function orderDifferences(engine: Engine, pair: ReportPair): Promise<string[]> {
  const forward = await importInOrder(engine, pair, [0, 1]);
  const backward = await importInOrder(engine, pair, [1, 0]);
  return [...without(forward, backward), ...without(backward, forward)].sort();
}

function without(lines: readonly string[], others: readonly string[]): string[] {
  const known = new Set(others);
  return lines.filter((line) => !known.has(line));
}

export async function measureOrderLaw(engine: Engine, pairs: readonly ReportPair[]): Promise<OrderResult> {
  const different: string[] = [];
  for (const pair of pairs) {
    const [first] = await orderDifferences(engine, pair);
    if (first !== undefined) different.push(`${pair[0].name} and ${pair[1].name}: ${first}`);
  }
  return { pairs: pairs.length, equal: pairs.length - different.length, different };
}

/** Imports both reports, and then both once more. The second time, nothing may change. */
export async function measureRepeats(engine: Engine, pairs: readonly ReportPair[]): Promise<OrderResult> {
  const different: string[] = [];
  for (const pair of pairs) {
    const org = await organizationWithoutBrake(engine);
    for (const at of [0, 1] as const) await importReport(engine, org, pair, at);
    const before = await linesOf(engine, org);
    const counts = [];
    for (const at of [0, 1] as const) counts.push(await importReport(engine, org, pair, at));
    const after = await linesOf(engine, org);
    const changes = counts.some(({ created, updated, reopened, closed }) => created + updated + reopened + closed > 0) ? [JSON.stringify(counts)] : [];
    const [first] = [...without(before, after), ...without(after, before), ...changes];
    if (first !== undefined) different.push(`${pair[0].name} and ${pair[1].name}, imported again: ${first}`);
  }
  return { pairs: pairs.length, equal: pairs.length - different.length, different };
}

const WITHOUT_BRAKE = JSON.stringify({ brake: { share: 1, count: 1_000_000 } });

async function organizationWithoutBrake(engine: Engine): Promise<string> {
  const org = await engine.organization();
  await engine.admin().query('update organizations set policy = $2 where id = $1', [org, WITHOUT_BRAKE]);
  return org;
}

async function importInOrder(engine: Engine, pair: ReportPair, order: readonly (0 | 1)[]): Promise<string[]> {
  const org = await organizationWithoutBrake(engine);
  for (const at of order) await importReport(engine, org, pair, at);
  return linesOf(engine, org);
}

async function importReport(engine: Engine, org: string, pair: ReportPair, at: 0 | 1): Promise<Record<'created' | 'updated' | 'reopened' | 'closed', number>> {
  const { name, format, bytes, namesAssets } = pair[at];
  const scope: ScanScope = {
    coverage: 'complete',
    started_at: `2026-01-0${at + 1}T12:00:00.000Z`,
    ...(namesAssets ? {} : { asset: { type: 'repository', name: 'https://git.example.com/shop' } }),
  };
  const { status, error, created, updated, reopened, closed } = await engine.runFile(org, { format, name, bytes }, scope);
  if (status !== 'succeeded') throw new Error(`${name}: ${status} ${error}`);
  return { created, updated, reopened, closed };
}

async function linesOf(engine: Engine, org: string): Promise<string[]> {
  return [...Object.values(await engine.stateOf(org, { lawful: true })).flat(), ...(await placesOf(engine, org))];
}

async function placesOf({ admin }: Engine, org: string): Promise<string[]> {
  const { rows } = await admin().query<{ line: string }>(
    `select jsonb_build_array(a.name, f.weakness, f.component_key, encode(f.identity_key, 'hex'), o.provider, p.label, p.state, p.location, p.first_seen, p.last_seen)::text as line
     from occurrences p join findings f on f.org_id = p.org_id and f.id = p.finding_id join assets a on a.org_id = f.org_id and a.id = f.asset_id
     join sources o on o.org_id = p.org_id and o.id = p.source_id where p.org_id = $1`,
    [org],
  );
  return rows.map(({ line }) => line).sort();
}
