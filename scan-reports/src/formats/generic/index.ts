import { ReportError, type ReportFormat, type ReportHead, type ReportInput, type ReportItem } from '../../contract.ts';
import { csvRows } from '../../csv.ts';
import { hasKeys, headOf, keysInList } from '../../detect.ts';
import { notThisFormat } from '../../input.ts';
import { jsonValues, placeOf } from '../../json.ts';
import { RecordError, record } from '../../normalize.ts';
import { isObj } from '../../read.ts';
import { CSV_FIELDS, JSON_FIELDS, REQUIRED } from './fields.ts';
import { observationOf, rowOf } from './record.ts';

/** Our own format: what no tool writes by itself, and what people write by hand. */
export const generic: ReportFormat = {
  id: 'generic',
  name: 'Generic findings',
  description: 'Our own format, for findings of any origin: JSON, JSON Lines or CSV with one record for each finding',
  documentation: 'docs/generic-format.md',
  expects: 'JSON {"findings": […]}, a JSON array, JSON Lines or CSV, whose records have at least title and severity',
  assetType: 'other',
  detect: (head) => {
    const keys = keysInList(head, 'findings') ?? head.jsonKeys;
    if (head.jsonShape !== null) return isRecord(keys, JSON_FIELDS);
    return head.csvRows.some((row) => isRecord(row, CSV_FIELDS));
  },
  async *read(input) {
    const head = await headOf(input);
    yield* head.jsonShape === null ? readCsv(input, head) : readJson(input, patternOf(head));
  },
};

function isRecord(names: readonly string[], allowed: readonly string[]): boolean {
  return REQUIRED.every((name) => names.includes(name)) && names.every((name) => allowed.includes(name));
}

/** Where the records stand. A file whose first record has nothing of ours is somebody else's. */
function patternOf(head: ReportHead): string {
  const listed = keysInList(head, 'findings');
  const keys = listed ?? head.jsonKeys;
  if ((listed === null && hasKeys(head, 'findings')) || (keys.length > 0 && !keys.some((key) => JSON_FIELDS.includes(key))))
    throw notThisFormat(generic.expects);
  if (listed !== null) return 'findings.*';
  if (head.jsonShape !== 'array' && keys.length === 0) throw notThisFormat(generic.expects);
  return head.jsonShape === 'array' ? '*' : '';
}

async function* readJson(input: ReportInput, pattern: string): AsyncGenerator<ReportItem> {
  for await (const found of jsonValues(input, [pattern])) {
    // In JSON Lines the first document has a line like the others.
    const place = pattern === '' ? `line ${found.document + 1}` : placeOf(found);
    yield* record(place, () => {
      if (found.error) throw new RecordError(found.error);
      if (!isObj(found.value)) throw new RecordError('the record is no object');
      return observationOf(found.value, JSON_FIELDS, place);
    });
  }
}

async function* readCsv(input: ReportInput, head: ReportHead): AsyncGenerator<ReportItem> {
  const header = head.csvRows.find((row) => REQUIRED.every((name) => row.includes(name)));
  if (header === undefined) throw notThisFormat(generic.expects);
  const unknown = header.filter((name) => name !== '' && !CSV_FIELDS.includes(name));
  if (unknown.length > 0) throw new ReportError(`Unknown columns: ${unknown.join(', ')}. Allowed are ${CSV_FIELDS.join(', ')}.`);
  for await (const { cells, place } of csvRows(input, REQUIRED)) yield* record(place, () => observationOf(rowOf(cells), CSV_FIELDS, place));
}
