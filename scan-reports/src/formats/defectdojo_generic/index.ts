import type { ReportEntry, ReportFormat, ReportHead, ReportInput, ReportItem } from '../../contract.ts';
import { csvEnd, csvRows } from '../../csv/rows.ts';
import { hasKeys, headOf, keysInList } from '../../detect.ts';
import { jsonValues, placeOf } from '../../json/values.ts';
import { name } from '../../names/clean-text.ts';
import { notThisFormat } from '../../shared/input.ts';
import { RecordError, record } from '../../shared/normalize.ts';
import { isObj, str } from '../../shared/read.ts';
import { fieldName, isKnown, isOwn } from './fields.ts';
import { observationsOf } from './record.ts';

export const defectdojoGeneric: ReportFormat = {
  id: 'defectdojo_generic',
  name: 'DefectDojo Generic Findings Import',
  description: "DefectDojo's Generic Findings Import, JSON or CSV, with one record per finding",
  documentation: 'https://docs.defectdojo.com/supported_tools/parsers/file/generic/',
  expects: 'JSON {"findings": […]} or CSV with the fields of DefectDojo\'s Generic Findings Import, such as title, severity, cwe and mitigation',
  assetType: 'other',
  detect: (head) => (head.jsonShape === null ? headerOf(head)?.some(isOwn) === true : isFindings(head) || isClean(head)),
  async about(input) {
    return { tools: [await toolOf(input, await ownHead(input))], finished: true, unread: [] };
  },
  async *read(input) {
    const head = await ownHead(input);
    const tool = await toolOf(input, head);
    yield* head.jsonShape === null ? readCsv(input, tool) : readJson(input, tool);
  },
};

const TOOL = 'defectdojo';

function isFindings(head: ReportHead): boolean {
  const keys = keysInList(head, 'findings') ?? [];
  if (!keys.includes('title') || !keys.includes('severity') || !keys.every(isKnown)) return false;
  // The first record may have only fields that the generic format has too.
  const named = [...head.text.matchAll(/"(\w+)"\s*:/g)].some(([, key = '']) => isOwn(key));
  return named || namesTest(head);
}

const OWN_KEYS = ['type', 'static_tool', 'dynamic_tool'];
const KEYS = ['name', 'version', 'description', 'soc', 'findings', ...OWN_KEYS];

/** The object has facts about the test that files of other tools with a list of findings do not have. */
function namesTest(head: ReportHead): boolean {
  return OWN_KEYS.some((key) => hasKeys(head, key));
}

function isClean(head: ReportHead): boolean {
  return keysInList(head, 'findings')?.length === 0 && namesTest(head) && head.jsonKeys.every((key) => KEYS.includes(key));
}

/** The first row that names only columns of this format, among them a title and a severity. */
function headerOf({ csvRows: rows }: ReportHead): readonly string[] | undefined {
  return rows
    .map((row) => row.filter((cell) => cell !== ''))
    .find((row) => REQUIRED.every((column) => row.map(fieldName).includes(column)) && row.every(isKnown));
}

const REQUIRED = ['title', 'severity'];

/** A named format may be read although it was not detected: the first record may lack the fields that detection needs. */
async function ownHead(input: ReportInput): Promise<ReportHead> {
  const head = await headOf(input);
  const keys = keysInList(head, 'findings');
  const isOther = head.jsonShape === null ? headerOf(head) === undefined : keys === null || (keys.length > 0 && !keys.some(isKnown));
  if (isOther) throw notThisFormat(defectdojoGeneric.expects);
  return head;
}

/** The type of the test is the tool that found the weaknesses. CSV does not have it. */
async function toolOf(input: ReportInput, { jsonShape }: ReportHead): Promise<string> {
  let tool = TOOL;
  if (jsonShape === null) return tool;
  for await (const { value } of jsonValues(input, ['type'])) {
    const given = name(str(value) ?? '').toLowerCase();
    if (given !== '' && given !== 'generic findings import') tool = given;
  }
  return tool;
}

async function* readJson(input: ReportInput, tool: string): AsyncGenerator<ReportItem> {
  for await (const found of jsonValues(input, ['findings.*'])) {
    const place = placeOf(found);
    yield* record(place, () => {
      if (found.error || !isObj(found.value)) throw new RecordError(found.error ?? 'the record is not an object');
      return observationsOf(found.value, place, tool);
    });
  }
}

async function* readCsv(input: ReportInput, tool: string): AsyncGenerator<ReportEntry> {
  const end = csvEnd();
  for await (const { cells, place } of csvRows(input, REQUIRED, { nameOf: fieldName, end })) yield* record(place, () => observationsOf(cells, place, tool));
  yield* end.facts();
}
