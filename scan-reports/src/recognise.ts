import { ReportError, type ReportFormat, type ReportHead, type ReportInput } from './contract.ts';
import { detectFormat, headOf } from './detect.ts';

interface Recognised {
  format: ReportFormat | null;
  /** In words, for the message that refuses it. */
  looksLike: string;
  /** Ids of the formats that look the same when nothing was found. */
  couldBe: string[];
}

/** By what the file shows. One without a finding may show nothing but be of the only format that can read it. */
export async function recognise(formats: readonly ReportFormat[], input: ReportInput): Promise<Recognised> {
  const head = await headOf(input);
  const looksLike = wordsOf(head);
  const detected = detectFormat(formats, head);
  if (detected || !holdsNothing(head)) return { format: detected, looksLike, couldBe: [] };
  const readable: ReportFormat[] = [];
  for (const format of formats) if (await readsNothing(format, input)) readable.push(format);
  const [only, ...others] = readable;
  return others.length === 0 ? { format: only ?? null, looksLike, couldBe: [] } : { format: null, looksLike, couldBe: readable.map(({ id }) => id) };
}

function holdsNothing({ text }: ReportHead): boolean {
  if (text.trim() === '') return true;
  try {
    return isBare(JSON.parse(text));
  } catch {
    return false;
  }
}

function isBare(value: unknown): boolean {
  if (value === null || typeof value !== 'object') return true;
  return Array.isArray(value) ? value.every((item) => Array.isArray(item) && item.length === 0) : Object.values(value).every(isBare);
}

async function readsNothing(format: ReportFormat, input: ReportInput): Promise<boolean> {
  try {
    for await (const _ of format.read(input)) return false;
    return true;
  } catch (error) {
    if (error instanceof ReportError) return false;
    throw error;
  }
}

const SHAPES = { object: 'a JSON object', array: 'a JSON array', lines: 'JSON lines' };

function wordsOf({ text, jsonShape, jsonKeys, xmlRoot, csvRows }: ReportHead): string {
  if (text.trim() === '') return 'an empty file';
  if (jsonShape !== null) return jsonKeys.length === 0 ? `${SHAPES[jsonShape]} without keys` : `${SHAPES[jsonShape]} with the keys ${listed(jsonKeys)}`;
  if (xmlRoot !== null) return `XML with the root element ${listed([xmlRoot.name])}`;
  const [row] = csvRows;
  if (text.includes('\u0000') || text.includes('\ufffd') || row === undefined) return 'a binary file';
  return row.length > 1 ? `CSV with the columns ${listed(row)}` : 'plain text';
}

const MOST_NAMES = 10;
const LONGEST_NAME = 40;

function listed(names: readonly string[]): string {
  const shown = names.slice(0, MOST_NAMES).map((name) => (name.length > LONGEST_NAME ? `${name.slice(0, LONGEST_NAME)}…` : name).replaceAll(/\s+/g, ' '));
  return `${shown.join(', ')}${names.length > MOST_NAMES ? ' …' : ''}`;
}
