import type { ReportEntry, ReportFormat, ReportHead, ReportInput } from '../../contract.ts';
import { csvEnd, csvRows } from '../../csv/rows.ts';
import { hasKeys, headOf } from '../../detect.ts';
import { jsonRecords } from '../../json/documents.ts';
import { notThisFormat } from '../../shared/input.ts';
import { RecordError, record } from '../../shared/normalize.ts';
import { type Obj, obj } from '../../shared/read.ts';
import { runEntry, startChecks } from '../../shared/run.ts';
import { assetOf, type Check, checkObservation, hasPassed, hasResult, resourceOf } from './check.ts';
import { type CsvShape, csvShapeOf, rowOf } from './csv.ts';
import { jsonCheckOf, oldJsonCheckOf } from './json.ts';
import { detectionOf } from './ocsf.ts';

export const prowler: ReportFormat = {
  id: 'prowler',
  name: 'Prowler',
  description: 'Output of `prowler aws|azure|gcp|kubernetes …` in the modes csv, json or json-ocsf, versions 2 to 5',
  documentation: 'https://docs.prowler.com/projects/prowler-open-source/en/latest/tutorials/reporting/',
  expects: 'CSV with CHECK_ID and STATUS (version 2: TITLE_TEXT and CHECK_RESULT), JSON of checks with CheckID (version 2: Control), or OCSF JSON of Prowler',
  assetType: 'cloud_resource',
  detect: (head) => isJson(head) || csvShapeOf(head) !== null,
  async *read(input) {
    const head = await headOf(input);
    const csv = csvShapeOf(head);
    if (csv) yield* readCsv(input, csv);
    else if (isJson(head) || isEmpty(head)) yield* readJson(input, head);
    else throw notThisFormat(prowler.expects);
  },
};

function isJson(head: ReportHead): boolean {
  return (
    hasKeys(head, 'CheckID', 'Status', 'Provider') ||
    hasKeys(head, 'Account Number', 'Control', 'Status') ||
    (['finding_info', 'finding'].some((key) => head.jsonKeys.includes(key)) && /"(?:vendor_name|name)"\s*:\s*"Prowler"/.test(head.text))
  );
}

/** Version 2 creates the JSON file before it knows whether there are findings. */
function isEmpty(head: ReportHead): boolean {
  return /^\s*(?:\[\s*\]\s*)?$/.test(head.text);
}

async function* readCsv(input: ReportInput, shape: CsvShape): AsyncGenerator<ReportEntry> {
  const read = createReader();
  const end = csvEnd();
  for await (const { cells, place } of csvRows(input, shape.required, { delimiter: shape.delimiter, end }))
    yield* read(place, () => rowOf(cells, place, shape));
  yield* read.end();
  yield* end.facts();
}

async function* readJson(input: ReportInput, head: ReportHead): AsyncGenerator<ReportEntry> {
  const read = createReader();
  for await (const { place, value, error } of jsonRecords(input, head.jsonShape === 'array' ? '*' : ''))
    yield* read(place, () => {
      if (error) throw new RecordError(error);
      return entryOf(obj(value), place);
    });
  yield* read.end();
}

const REMEMBERED = 50_000;

/**
 * All checks of a run have the time of its start. Resources that passed a check are covered, even if they have no findings. A report with passed checks has
 * all results, also muted ones, so a check without any was not run, and one without any on a resource was not made there: Prowler may not have been allowed to.
 */
function createReader() {
  const covered = new Set<string>();
  const checks = startChecks();
  let hasRun = false;
  let isWhole = false;
  function* read(place: string, make: () => Check): Generator<ReportEntry> {
    let check: Check | undefined;
    yield* record(place, () => {
      check = make();
      return checkObservation(check);
    });
    if (check === undefined) return;
    if (!hasRun) yield* runEntry({ tool_version: check.version, started_at: check.seen });
    hasRun = true;
    checks.add(check.id, resourceOf(check), hasResult(check));
    isWhole ||= hasPassed(check);
    const asset = hasPassed(check) ? assetOf(check) : null;
    if (asset === null || covered.has(asset.name)) return;
    if (covered.size < REMEMBERED) covered.add(asset.name);
    yield* runEntry({ asset });
  }
  return Object.assign(read, { end: () => runEntry({ checks: isWhole ? checks.list() : undefined, looked_for: isWhole ? ['suppressed'] : undefined }) });
}

function entryOf(entry: Obj, place: string): Check {
  if ('metadata' in entry || 'finding_info' in entry) return detectionOf(entry, place);
  return 'Control' in entry || 'Control ID' in entry ? oldJsonCheckOf(entry, place) : jsonCheckOf(entry, place);
}
