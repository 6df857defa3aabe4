import { type EvidenceDocument, type Finding, recordedAt, scansAfter } from '@rrs/evidence-format';
import { EVIDENCE, type Fault, FINDINGS } from './fault.ts';
import type { Known } from './references.ts';
import { isOf } from './scan-fitness.ts';
import { later } from './time-order.ts';

type Scan = EvidenceDocument['scans'][number];

/** Checks values of the document that follow from each other, or that exclude each other. */
export function* contradictions(document: EvidenceDocument, known: Known): Generator<Fault> {
  const { scans, sources, redactions, artifacts, work_item, collection, abandoned_leaves } = document;
  for (const scan of scans) yield* scanContradictions(scan, known);
  for (const { source, removed_at, removed_by } of sources)
    if (removed_by !== null && removed_at === null) yield against(`The source ${source} was removed by somebody, but not removed`);
  const contents = new Set(artifacts.map(({ id }) => `data/artifacts/${id}/content`));
  for (const { file } of redactions) if (!contents.has(file)) yield against(`The redacted file ${file} does not belong to an artifact`);
  for (const { file, collected_at } of collection)
    if (contents.has(file) && collected_at < work_item.created_at) yield against(`The file ${file} was collected before there was a work item`);
  if (new Set(abandoned_leaves.map(({ index, leaf_sha256 }) => `${index} ${leaf_sha256}`)).size < abandoned_leaves.length)
    yield against('An abandoned log entry is listed twice');
  yield* laterIds(document);
}

/** What a scan does not cover is also a doubt. */
const INCOMPLETE = ['partial_coverage', 'records_rejected', 'coverage_doubtful'];

function* scanContradictions(scan: Scan, { scans }: Known): Generator<Fault> {
  const { id, status, complete, doubts, rejected, names, copy_of, imported_at } = scan;
  const fault = (detail: string): Fault => against(`The scan ${id} ${detail}`);
  if (complete === INCOMPLETE.some((doubt) => doubts.includes(doubt))) yield fault('is called complete exactly if its doubts say that it is not');
  if (rejected > 0 !== doubts.includes('records_rejected')) yield fault('and its doubts disagree about rejected records');
  if (scan.started_at !== null && scan.ended_at !== null && scan.started_at > scan.ended_at) yield fault('ended before it began');
  if (status === 'succeeded' && imported_at === null) yield fault('was applied at no time');
  if (status !== 'failed' && names.length > 0) yield fault('names vulnerabilities, which only a scan that failed does');
  const copied = scans.get(copy_of ?? '');
  if (copy_of === id || (copied !== undefined && copied.received_at > scan.received_at)) yield fault('is a copy of itself or of a later scan');
}

/** An ID begins with the time at which it was made. Times are those of the database, and its clock may differ. */
const CLOCKS_MS = 3_600_000;

/** Whether something was recorded later than it states. */
export function isBackdated(id: string, at: string): boolean {
  const made = recordedAt(id);
  return made !== null && made > later(at, CLOCKS_MS);
}

function* laterIds({ work_item, approvals, artifacts, scans, package_id, generated_at }: EvidenceDocument): Generator<Fault> {
  const stated: [string, string, string][] = [
    ['work item', work_item.id, work_item.created_at],
    ['package', package_id, generated_at],
    ...approvals.map(({ id, at }): [string, string, string] => ['approval', id, at]),
    ...artifacts.map(({ id, added_at }): [string, string, string] => ['artifact', id, added_at]),
    ...scans.map(({ id, received_at }): [string, string, string] => ['scan', id, received_at]),
  ];
  for (const [what, id, at] of stated)
    if (isBackdated(id, at))
      yield {
        code: 'time_order',
        file: EVIDENCE,
        detail: `The ${what} ${id} states an earlier time than the one in its ID.`,
        expected: recordedAt(id) ?? '',
        actual: at,
      };
}

const LISTED_PLACES = 100;
/** The source of findings that people enter. No scan shows that they are gone. */
const BY_HAND = 'manual';

/** The same for one finding. */
export function* findingContradictions(finding: Finding, known: Known): Generator<Fault> {
  const { id, cves, cvss, kev, kev_since, sources, occurrence_count, occurrences, before, after, suppressed, epss, asset, fix_published_date } = finding;
  const fault = (detail: string): Fault => ({ ...against(`The finding ${id} ${detail}`), file: FINDINGS });
  if (new Set(cves).size < cves.length) yield fault('names a CVE twice');
  if (cvss?.vector.startsWith('CVSS:') && !cvss.vector.startsWith(`CVSS:${cvss.version}/`)) yield fault('has a vector of another version of CVSS');
  if (kev_since !== null && !kev) yield fault('was added to a catalog that does not have it');
  if (occurrences.length !== Math.min(occurrence_count, LISTED_PLACES)) yield fault('must list all its places, up to 100');
  if (occurrences.some(({ source }) => !sources.includes(source))) yield fault('was seen by a source that is not one of its sources');
  if (after.state === 'absent' && occurrences.some(({ state, source }) => state === 'present' && source !== BY_HAND))
    yield fault('is gone, and still at a place');
  if (after.state === 'absent' && suppressed) yield fault('is suppressed by a source that no longer shows it');
  if (known.scans.get(before.scan ?? '')?.records === 0) yield fault('was shown by a scan without records');
  if (epss !== null && epss.date !== null && !isDateUntil(epss.date, known.asOf)) yield fault('has an EPSS rating of a day that had not come');
  if (fix_published_date !== null && !isDateUntil(fix_published_date, known.asOf)) yield fault('has a fix of a day that had not come');
  for (const scan of [before.scan, ...(after.state === 'absent' ? scansAfter(finding) : [])].flatMap((one) => known.scans.get(one ?? '') ?? []))
    if (!known.sources.get(asset.id)?.some((one) => isSourceOf(one, scan)))
      yield fault(`was scanned by ${scan.tool}, which is not one of the sources of its asset`);
}

/** A connection reads what its vendor scanned before. */
function isSourceOf({ source, kind, last_scan_at }: EvidenceDocument['sources'][number], { tool, original, started_at, received_at }: Scan): boolean {
  if (!isOf(source, tool) || (kind === 'connection') !== (original === 'records')) return false;
  return original === 'records' || started_at === null || (last_scan_at !== null && (last_scan_at >= started_at || last_scan_at >= received_at));
}

const DAY_MS = 86_400_000;

/** Days begin earlier in other time zones. */
function isDateUntil(date: string, asOf: string): boolean {
  return /^[0-9]{4}-[0-9]{2}-[0-9]{2}$/.test(date) && date <= later(asOf, DAY_MS);
}

function against(detail: string): Fault {
  return { code: 'contradiction', file: EVIDENCE, detail: `${detail}.` };
}

interface Population {
  /** The findings of the package. */
  ids: ReadonlySet<string>;
  assets: ReadonlySet<string>;
}

/** The same for what the document says about the assets of the findings. */
export function* assetContradictions({ assets }: EvidenceDocument, { ids, assets: used }: Population): Generator<Fault> {
  for (const { id, other_open, other_open_alike } of assets) {
    const open = Object.values(other_open).reduce((sum, count) => sum + count, 0);
    if (!used.has(id)) yield against(`The asset ${id} has no finding in the package`);
    if (other_open_alike.length > open) yield against(`The asset ${id} has fewer other open findings than it names`);
    if (other_open_alike.some((other) => ids.has(other))) yield against(`The asset ${id} names a finding of the package as another one`);
  }
}
