import { type ReportEntry, ReportError, type ReportFormat, type ReportHead, type ReportInput } from './contract.ts';
import { detectFormat, headOf } from './detect.ts';

interface Recognised {
  format: ReportFormat | null;
  /** Describes the file in error messages. */
  looksLike: string;
  /** Ids of the formats whose empty reports look like this file. */
  couldBe: string[];
}

/**
 * Detects the format of a file. A report without findings may match no format, but still be readable by exactly one. If several can read it, the file name
 * decides.
 */
export async function recognise(formats: readonly ReportFormat[], input: ReportInput): Promise<Recognised> {
  const head = await headOf(input);
  const looksLike = describe(head);
  const detected = detectFormat(formats, head);
  if (detected || !hasNoContent(head)) return { format: detected, looksLike, couldBe: [] };
  const readable: ReportFormat[] = [];
  for (const format of formats) if (await readsAsEmpty(format, input)) readable.push(format);
  const [only = null] = readable.length > 1 ? await namedBy(input, readable) : readable;
  return { format: only, looksLike, couldBe: only ? [] : readable.map(({ id }) => id) };
}

/** The only format that the file name names by its id or name. Empty if it names several. */
async function namedBy(input: ReportInput, formats: readonly ReportFormat[]): Promise<ReportFormat[]> {
  let rest = wordsOf(input.filename?.split(/[\\/]/).at(-1) ?? '');
  const names = formats.flatMap((format) => [format.id, format.name].map((name) => ({ format, words: wordsOf(name) })));
  const named = new Set<ReportFormat>();
  // Longer names first: "trivy operator" does not name Trivy.
  for (const { format, words } of names.toSorted((a, b) => b.words.length - a.words.length)) {
    if (!rest.includes(words)) continue;
    rest = rest.replaceAll(words, ' / ');
    // Many tools write such a format, and its name does not tell whose findings are gone.
    if ((await format.about?.(input))?.tools?.length !== 0) named.add(format);
  }
  return named.size === 1 ? [...named] : [];
}

/** The words in lower case, with a space before and after each. */
function wordsOf(text: string): string {
  return ` ${text
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, ' ')
    .trim()} `;
}

function hasNoContent({ text }: ReportHead): boolean {
  if (text.trim() === '') return true;
  try {
    return isEmptyValue(JSON.parse(text));
  } catch {
    return false;
  }
}

function isEmptyValue(value: unknown): boolean {
  if (value === null || typeof value !== 'object') return true;
  return Array.isArray(value) ? value.every((item) => Array.isArray(item) && item.length === 0) : Object.values(value).every(isEmptyValue);
}

async function readsAsEmpty(format: ReportFormat, input: ReportInput): Promise<boolean> {
  try {
    for await (const entry of format.read(input)) if (!saysNothing(entry)) return false;
    return true;
  } catch (error) {
    if (error instanceof ReportError) return false;
    throw error;
  }
}

/** What an empty report does not show, or what all reports of the format do, is no sign that it is one of the format. */
function saysNothing(entry: ReportEntry): boolean {
  return 'run' in entry && Object.keys(entry.run).every((fact) => fact === 'left_out' || fact === 'looked_for');
}

const SHAPES = { object: 'a JSON object', array: 'a JSON array', lines: 'JSON Lines' };

function describe({ text, jsonShape, jsonKeys, xmlRoot, csvRows }: ReportHead): string {
  if (text.trim() === '') return 'an empty file';
  if (jsonShape !== null) return jsonKeys.length === 0 ? `${SHAPES[jsonShape]} without keys` : `${SHAPES[jsonShape]} with the keys ${joined(jsonKeys)}`;
  if (xmlRoot !== null) return `XML with the root element ${joined([xmlRoot.name])}`;
  const [row] = csvRows;
  if (text.includes('\u0000') || text.includes('\ufffd') || row === undefined) return 'a binary file';
  return row.length > 1 ? `CSV with the columns ${joined(row)}` : 'plain text';
}

const MAX_NAMES = 10;
const MAX_NAME_LENGTH = 40;

function joined(names: readonly string[]): string {
  const shown = names.slice(0, MAX_NAMES).map((name) => (name.length > MAX_NAME_LENGTH ? `${name.slice(0, MAX_NAME_LENGTH)}…` : name).replaceAll(/\s+/g, ' '));
  return `${shown.join(', ')}${names.length > MAX_NAMES ? ' …' : ''}`;
}
