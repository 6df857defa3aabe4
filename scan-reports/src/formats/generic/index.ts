import { type ReportEntry, ReportError, type ReportFormat, type ReportHead, type ReportInput, type ReportItem } from '../../contract.ts';
import { csvEnd, csvRows } from '../../csv/rows.ts';
import { hasKeys, headOf, keysInList } from '../../detect.ts';
import { type JsonRecord, jsonRecords } from '../../json/documents.ts';
import { jsonValues, placeOf } from '../../json/values.ts';
import { startAbout } from '../../shared/about.ts';
import { notThisFormat } from '../../shared/input.ts';
import { RecordError, record } from '../../shared/normalize.ts';
import { isObj } from '../../shared/read.ts';
import { CSV_FIELDS, JSON_FIELDS, REQUIRED } from './fields.ts';
import { observationOf, rowOf } from './record.ts';
import { readScan } from './scan.ts';
import { toolsIn } from './tool.ts';

export const generic: ReportFormat = {
  id: 'generic',
  name: 'Generic findings',
  description: 'Findings of any origin as JSON, JSON Lines or CSV, with one record per finding',
  documentation: 'docs/generic-format.md',
  expects: 'JSON {"findings": […]}, a JSON array, JSON Lines or CSV with records that have at least title and severity',
  assetType: 'other',
  detect: (head) => {
    const keys = keysInList(head, 'findings') ?? head.jsonKeys;
    if (head.jsonShape !== null) return isRecord(keys, JSON_FIELDS) || isClean(head);
    return headerOf(head)?.isGeneric === true;
  },
  async about(input) {
    const head = await headOf(input);
    return { ...startAbout().about(), tools: await toolsIn(input, head, head.jsonShape === null ? null : patternOf(head)) };
  },
  async *read(input) {
    const head = await headOf(input);
    yield* head.jsonShape === null ? readCsv(input, head) : readJson(input, patternOf(head));
  },
};

/** An empty list of findings is generic only if the object also has facts about the scan, and nothing else. */
function isClean(head: ReportHead): boolean {
  return keysInList(head, 'findings')?.length === 0 && hasKeys(head, 'scan') && head.jsonKeys.length === 2;
}

function isRecord(names: readonly string[], allowed: readonly string[]): boolean {
  return REQUIRED.every((name) => names.includes(name)) && names.every((name) => allowed.includes(name));
}

/** Returns the path of the records. A file whose first record has none of the generic fields has another format. */
function patternOf(head: ReportHead): string {
  const listed = keysInList(head, 'findings');
  const keys = listed ?? head.jsonKeys;
  if ((listed === null && hasKeys(head, 'findings')) || (keys.length > 0 && !keys.some((key) => JSON_FIELDS.includes(key))))
    throw notThisFormat(generic.expects);
  if (listed !== null) return 'findings.*';
  if (head.jsonShape !== 'array' && keys.length === 0) throw notThisFormat(generic.expects);
  return head.jsonShape === 'array' ? '*' : '';
}

/** Only an object can also have facts about the scan. */
async function* readJson(input: ReportInput, pattern: string): AsyncGenerator<ReportEntry> {
  if (pattern !== 'findings.*') for await (const found of jsonRecords(input, pattern)) for (const item of readRecord(found)) yield item;
  else
    for await (const found of jsonValues(input, [pattern, 'scan'])) {
      if (found.pattern === 1) yield* readScan(found.value);
      else yield* readRecord({ ...found, place: placeOf(found) });
    }
}

function readRecord({ place, value, error }: JsonRecord): ReportItem[] {
  return record(place, () => {
    if (error || !isObj(value)) throw new RecordError(error ?? 'the record is not an object');
    return observationOf(value, JSON_FIELDS, place);
  });
}

async function* readCsv(input: ReportInput, head: ReportHead): AsyncGenerator<ReportEntry> {
  const header = headerOf(head);
  if (header === undefined) throw notThisFormat(generic.expects);
  const { unknown, repeated } = header;
  if (unknown.length > 0) throw new ReportError(`Unknown columns: ${unknown.join(', ')}. Allowed columns: ${CSV_FIELDS.join(', ')}.`);
  if (repeated.length > 0) throw new ReportError(`Duplicate columns: ${repeated.join(', ')}.`);
  const end = csvEnd();
  for await (const { cells, place, unnamed } of csvRows(input, REQUIRED, { nameOf, end }))
    yield* record(place, () => {
      if (unnamed > 0) throw new RecordError('the row has more cells than columns (quote cells that contain the delimiter)');
      return observationOf(rowOf(cells), CSV_FIELDS, place);
    });
  yield* end.facts();
}

const nameOf = (cell: string): string => cell.toLowerCase();

/** A table counts as generic if at least half of its columns are known. The error then tells the author which columns are unknown. */
function headerOf({ csvRows: rows }: ReportHead): { unknown: string[]; repeated: string[]; isGeneric: boolean } | undefined {
  const header = rows.find((row) => REQUIRED.every((name) => row.map(nameOf).includes(name)))?.filter((cell) => cell !== '');
  if (header === undefined) return undefined;
  const names = header.map(nameOf);
  const unknown = header.filter((cell) => !CSV_FIELDS.includes(nameOf(cell)));
  return { unknown, repeated: header.filter((cell, index) => names.indexOf(nameOf(cell)) !== index), isGeneric: unknown.length <= header.length / 2 };
}
