import { scansAfter } from '@rrs/evidence-format';
import { formats, type Observation, ReportError, type ReportInput, recognise } from '@rrs/scan-reports';
import type { OpenedPackage, StoredFile } from '@rrs/verifier';
import { uncompressed } from '../../findings/import/reading/open-report.ts';
import { severityRank } from '../../findings/severity.ts';
import { messageOf } from '../../shared/errors.ts';
import { type ClaimedScan, type Claims, readClaims } from './claims.ts';
import { type Candidate, candidateOf, type Relation, relationOf, type Target, targetOf } from './matching.ts';

type DeepResult = 'confirmed' | 'contradicted' | 'not_checkable';

/** What the original reports say about one finding of the package. */
export interface DeepFinding {
  id: string;
  title: string;
  result: DeepResult;
  /** Why it is not confirmed. */
  reasons: string[];
}

/** Reads the scan reports in the package again: each finding must be in the report before, and must not be in the report after. */
export async function deepCheck(opened: OpenedPackage): Promise<DeepFinding[]> {
  const claims = await readClaims(opened);
  const targets = claims.findings.map(targetOf);
  const seen = await readReports(opened, claims, targets);
  return targets.map((target) => judge(target, { claims, seen }));
}

/** What a report says about one finding: for each relation the position of the first record. */
type Sightings = Map<Relation, string>;

interface ReadReport {
  /** Why the report could not be read. */
  problem: string | null;
  sightings: Map<string, Sightings>;
  /** The lowest severity that a record of the finding states: several records of one report can rate it differently. */
  mildest: Map<string, number>;
  /** The latest day on which a fix was published according to a record of the finding. A record that states none is later than all others. */
  latestFix: Map<string, string>;
  /** Findings whose asset the report names. */
  named: Set<string>;
}

async function readReports({ files }: OpenedPackage, { scans }: Claims, targets: readonly Target[]): Promise<Map<string, ReadReport>> {
  const wanted = new Map<string, Target[]>();
  for (const target of targets) for (const scan of new Set([target.claim.before.scan ?? [], scansAfter(target.claim)].flat())) add(wanted, scan, target);
  const read = new Map<string, ReadReport>();
  for (const [id, concerned] of wanted) {
    const scan = scans.get(id);
    const file = scan?.file ? files.get(scan.file) : undefined;
    read.set(id, scan && file ? await readReport(scan, file, concerned) : unread('the package does not contain the report'));
  }
  return read;
}

function unread(problem: string): ReadReport {
  return { problem, sightings: new Map(), mildest: new Map(), latestFix: new Map(), named: new Set() };
}

/** A report that cannot be read confirms nothing, and it must not keep the others from being read. */
async function readReport(scan: ClaimedScan, file: StoredFile, targets: readonly Target[]): Promise<ReadReport> {
  const report: ReadReport = unread('');
  const index = indexed(targets);
  try {
    const input: ReportInput = { filename: scan.filename, open: () => uncompressed(file.reread()) };
    const format = formats.find(({ id }) => id === scan.format) ?? (await recognise(formats, input)).format;
    if (format === null) return unread('the format of the report is not known');
    let rejected = 0;
    for await (const entry of format.read(input)) {
      if ('rejection' in entry) rejected++;
      else if ('observation' in entry) record(report, index, entry.observation);
      else if (entry.run.inventory_only) return unread('the report lists components and says nothing about findings');
    }
    return { ...report, problem: rejected === 0 ? null : `${rejected} records of the report cannot be read` };
  } catch (error) {
    return unread(`the report cannot be read: ${error instanceof ReportError ? error.message : messageOf(error)}`);
  }
}

/** There can be ten thousand findings, and a million records. */
interface Indexed {
  byId: Map<string, Target[]>;
  byComponent: Map<string, Target[]>;
  byAsset: Map<string, Target[]>;
}

function add(index: Map<string, Target[]>, key: string, target: Target): void {
  const targets = index.get(key);
  if (targets) targets.push(target);
  else index.set(key, [target]);
}

function indexed(targets: readonly Target[]): Indexed {
  const index: Indexed = { byId: new Map(), byComponent: new Map(), byAsset: new Map() };
  for (const target of targets) {
    for (const id of target.ids) add(index.byId, id, target);
    for (const short of new Set(target.components.map((component) => component.short))) add(index.byComponent, short, target);
    for (const key of target.assetKeys) add(index.byAsset, key, target);
  }
  return index;
}

function record(report: ReadReport, { byId, byComponent, byAsset }: Indexed, observation: Observation): void {
  const candidate: Candidate = candidateOf(observation);
  for (const key of candidate.assetKeys ?? []) {
    for (const { claim } of byAsset.get(key) ?? []) report.named.add(claim.id);
    // Once is enough.
    byAsset.delete(key);
  }
  // The source says that it is gone.
  if (!observation.present) return;
  const related = new Set([...candidate.ids.flatMap((id) => byId.get(id) ?? []), ...(byComponent.get(candidate.component?.short ?? '') ?? [])]);
  for (const target of related) {
    const relation = relationOf(target, candidate);
    if (relation === null) continue;
    const { id } = target.claim;
    if (relation === 'same') rate(report, id, observation);
    const sightings: Sightings = report.sightings.get(target.claim.id) ?? new Map();
    if (!sightings.has(relation)) sightings.set(relation, candidate.position);
    report.sightings.set(target.claim.id, sightings);
  }
}

const NEVER = '9999';

function rate({ mildest, latestFix }: ReadReport, id: string, { severity, fix_published_date = NEVER }: Observation): void {
  mildest.set(id, Math.min(mildest.get(id) ?? Number.POSITIVE_INFINITY, severityRank(severity)));
  const known = latestFix.get(id) ?? '';
  latestFix.set(id, known > fix_published_date ? known : fix_published_date);
}

interface Known {
  claims: Claims;
  seen: Map<string, ReadReport>;
}

interface Finding {
  contradiction?: string;
  doubt?: string;
}

function judge(target: Target, known: Known): DeepFinding {
  const { id, title, before, after } = target.claim;
  const sides = [
    before.state === 'present' ? judgeBefore(target, known) : { doubt: 'The package names no scan that shows the finding before the fix.' },
    after.state === 'absent' ? judgeAfter(target, known) : { doubt: 'The package names no scan that no longer shows the finding.' },
  ];
  const contradictions = sides.flatMap(({ contradiction }) => contradiction ?? []);
  const doubts = sides.flatMap(({ doubt }) => doubt ?? []);
  const result = contradictions.length > 0 ? 'contradicted' : doubts.length > 0 ? 'not_checkable' : 'confirmed';
  return { id, title, result, reasons: [...contradictions, ...doubts] };
}

/** The sightings in the report of one scan, or why there are none. */
function sightingsOf({ claim }: Target, { seen }: Known, scan: string | null, side: 'before' | 'after'): { report: ReadReport; sightings: Sightings } | string {
  const report = scan === null ? undefined : seen.get(scan);
  if (report === undefined) return `The package names no scan ${side} the fix.`;
  return { report, sightings: report.sightings.get(claim.id) ?? new Map() };
}

function judgeBefore(target: Target, known: Known): Finding {
  const found = sightingsOf(target, known, target.claim.before.scan, 'before');
  if (typeof found === 'string') return { doubt: found };
  const { report, sightings } = found;
  if (sightings.has('same')) return judgeValues(target, report);
  if (report.problem !== null) return { doubt: `Scan before the fix: ${report.problem}.` };
  const position = [...sightings.values()][0];
  if (position !== undefined) return { doubt: `Scan before the fix: the report contains a similar record, but under another asset, line or ID (${position}).` };
  return { contradiction: 'The report before the fix does not contain the finding.' };
}

function judgeValues(target: Target, report: ReadReport): Finding {
  if (isUnderstated(target, report)) return { contradiction: understated(target) };
  if (!isPostponed(target, report)) return {};
  return { contradiction: `The report before the fix states that a fix was published before ${target.claim.fix_published_date}, which the package says.` };
}

/** The package states the earliest day of all sources that still see the finding, or of all if it is gone. */
function isPostponed({ claim: { id, fix_published_date, after } }: Target, { latestFix }: ReadReport): boolean {
  return after.state === 'absent' && fix_published_date !== null && fix_published_date > (latestFix.get(id) ?? NEVER);
}

/** Deadlines and gaps are judged by the severity that the package states, so it must not be lower than every record of the finding. */
function isUnderstated({ claim: { id, severity_source } }: Target, { mildest }: ReadReport): boolean {
  return (mildest.get(id) ?? 0) > severityRank(severity_source);
}

function understated({ claim: { severity_source } }: Target): string {
  return `The report before the fix rates the finding higher than the package, which says ${severity_source}.`;
}

/** The first contradiction or doubt of all scans that no longer show the finding. */
function judgeAfter(target: Target, known: Known): Finding {
  const scans = scansAfter(target.claim);
  const judged = (scans.length === 0 ? [null] : scans).map((scan) => judgeScanAfter(target, known, scan));
  return judged.find(({ contradiction }) => contradiction !== undefined) ?? judged.find(({ doubt }) => doubt !== undefined) ?? {};
}

function judgeScanAfter(target: Target, known: Known, scan: string | null): Finding {
  const found = sightingsOf(target, known, scan, 'after');
  if (typeof found === 'string') return { doubt: found };
  const { report, sightings } = found;
  const same = sightings.get('same');
  if (same !== undefined) return { contradiction: `The report after the fix still contains the finding (${same}).` };
  if (report.problem !== null) return { doubt: `Scan after the fix: ${report.problem}.` };
  const line = sightings.get('other_line');
  if (line !== undefined) return { doubt: `Scan after the fix: the same check fails at another line of the file (${line}).` };
  const asset = sightings.get('other_asset');
  if (asset !== undefined && !report.named.has(target.claim.id))
    return { doubt: `Scan after the fix: the report contains the weakness on an asset with another name (${asset}).` };
  const id = sightings.get('other_id');
  if (id !== undefined && formatOf(known, target.claim.before.scan) !== formatOf(known, scan))
    return { doubt: `Scan after the fix: the report contains another ID in the same component, which may be an alias (${id}).` };
  return {};
}

function formatOf({ claims }: Known, scan: string | null): string | null {
  return claims.scans.get(scan ?? '')?.format ?? null;
}
