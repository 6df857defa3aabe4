import { ReportError, type ReportFormat } from '../contract.ts';
import { detectFormat, headOf } from '../detect.ts';
import { formats } from '../registry.ts';
import { readFixtures } from './fixtures.ts';

/** Characters and groups that regular expressions and parsers repeat, give meaning to, or search for. */
const UNITS = [
  ...['/', ' ', '\n', '1', 'a', '.', '-', '(', '<', '{', '[', ':', '@', '%', ',', '"', '\\', '=', '&', '?', '#', '|', '*', ')', ']', '\u00a0', '😀'],
  ...['{0}', ' (', 'a.', '1.', '-1', ': ', '://', '/.', '</', ', ', 'a@', '\r\n', '[a](1)', ' or ', 'CVE-2020-1', 'key', 'cwe-'],
];

export interface Target {
  format: ReportFormat;
  /** Fixture and field: `image.json matches.*.vulnerability.id`. */
  field: string;
  filename: string;
  /** The fixture with the field replaced. */
  make: (change: (value: string) => string) => string;
}

/** A field of a report that is attacked: a run of `unit`, alone or after the value that the field has. */
export interface Attack extends Target {
  unit: string;
  isAppended: boolean;
}

/** Every string field of every format. A field that several fixtures of a format have is attacked in the first of them. */
export function targets(): Target[] {
  return formats.flatMap((format) => {
    const seen = new Set<string>();
    return readFixtures(format.id).flatMap(({ name, bytes }) =>
      fieldsOf(name, bytes.toString('utf8')).flatMap(({ field, make }) => {
        if (seen.has(field)) return [];
        seen.add(field);
        return [{ format, field: `${name} ${field}`, filename: name, make }];
      }),
    );
  });
}

/** All attacks on a field, or `count` of them, different ones for each field. */
export function attacksOn(target: Target, index: number, count = Number.POSITIVE_INFINITY): Attack[] {
  const all = UNITS.flatMap((unit) => [true, false].map((isAppended) => ({ ...target, unit, isAppended })));
  if (count >= all.length) return all;
  return Array.from({ length: count }, (_, number) => all[(index * count + number) % all.length] ?? []).flat();
}

const nameOf = ({ format, field, unit, isAppended }: Attack): string =>
  `${format.id} ${field}: ${isAppended ? 'the value and ' : ''}many ${JSON.stringify(unit)}`;

type Field = Pick<Target, 'field' | 'make'>;

function fieldsOf(filename: string, text: string): Field[] {
  if (filename.endsWith('.csv')) return csvFields(text);
  if (text.trimStart().startsWith('<')) return markupFields(text);
  try {
    return jsonFields(JSON.parse(text), (root) => JSON.stringify(root));
  } catch {
    // JSON Lines. A malformed line stays as it is.
    return text.split('\n').flatMap((line, at, lines) => {
      if (!isJson(line)) return [];
      return jsonFields(JSON.parse(line), (root) => lines.with(at, JSON.stringify(root)).join('\n'));
    });
  }
}

function isJson(line: string): boolean {
  try {
    return typeof JSON.parse(line) === 'object';
  } catch {
    return false;
  }
}

/** One field for each path, whatever the indexes of lists in it. */
function jsonFields(root: unknown, write: (root: unknown) => string): Field[] {
  const fields = new Map<string, Field>();
  const visit = (value: unknown, path: readonly string[]): void => {
    if (typeof value === 'string') {
      const field = path.map((key) => (/^\d+$/.test(key) ? '*' : key)).join('.');
      if (!fields.has(field)) fields.set(field, { field, make: (change) => write(replaced(root, path, change(value))) });
    } else if (value !== null && typeof value === 'object') {
      for (const [key, inner] of Object.entries(value)) visit(inner, [...path, key]);
    }
  };
  visit(root, []);
  return [...fields.values()];
}

function replaced(value: unknown, [key, ...rest]: readonly string[], by: string): unknown {
  if (key === undefined) return by;
  if (Array.isArray(value)) return value.with(Number(key), replaced(value[Number(key)], rest, by));
  const object = Object(value) as Record<string, unknown>;
  return { ...object, [key]: replaced(object[key], rest, by) };
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&apos;' };
const escaped = (text: string): string => text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character);

/** Attributes by name, and texts by the tag in front of them. */
function markupFields(text: string): Field[] {
  const fields = new Map<string, Field>();
  const add = (field: string, from: number, value: string): void => {
    const make: Field['make'] = (change) => `${text.slice(0, from)}${escaped(change(value))}${text.slice(from + value.length)}`;
    if (!fields.has(field)) fields.set(field, { field, make });
  };
  for (const { 0: tag, 1: name = '', index } of text.matchAll(/<([\w:.-]+)[^<>]*>/g)) {
    for (const match of tag.matchAll(/([\w:.-]+)="([^"]*)"/g)) add(`${name}@${match[1]}`, index + match.index + `${match[1]}="`.length, match[2] ?? '');
    const from = index + tag.length;
    const start = text.startsWith('<![CDATA[', from) ? from + '<![CDATA['.length : from;
    const value = text.slice(start, start === from ? text.indexOf('<', start) : text.indexOf(']]>', start));
    if (value.trim() !== '') add(name, start, value);
  }
  return [...fields.values()];
}

/** The cells of the fullest row that is not the header. Cells with quotes or line breaks stay as they are. */
function csvFields(text: string): Field[] {
  const lines = text.split('\n');
  const delimiter = [',', ';', '\t', '|'].toSorted((a, b) => text.split(b).length - text.split(a).length)[0] ?? ',';
  const widths = lines.map((line) => line.split(delimiter).length);
  const at = widths.lastIndexOf(Math.max(...widths));
  const cells = (lines[at] ?? '').split(delimiter);
  return cells.flatMap((cell, column) => {
    if (cell.includes('"') || at === 0) return [];
    const make: Field['make'] = (change) => lines.with(at, cells.with(column, `"${change(cell).replaceAll('"', '""')}"`).join(delimiter)).join('\n');
    return [{ field: `column ${column + 1}`, make }];
  });
}

/** Detects the format of the attacked report and reads it. Returns the processor time in milliseconds. */
export async function timeOf(attack: Attack, length: number): Promise<number> {
  const run = attack.unit.repeat(Math.ceil(length / attack.unit.length));
  const bytes = Buffer.from(attack.make((value) => (attack.isAppended ? `${value}${run}!` : `${run}!`)));
  const input = {
    filename: attack.filename,
    open: async function* () {
      yield bytes;
    },
  };
  const start = process.cpuUsage();
  detectFormat(formats, await headOf(input));
  await ignoringRefusal(async () => attack.format.about?.(input));
  await ignoringRefusal(async () => {
    for await (const _ of attack.format.read(input));
  });
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1_000;
}

/** A report that is refused was read, too. */
async function ignoringRefusal(read: () => Promise<unknown>): Promise<void> {
  await read().catch((error) => {
    if (!(error instanceof ReportError)) throw error;
  });
}

const LENGTH = 8_000;
/** Linear time for a field of this length is far below this, quadratic time far above. What is above is measured again. */
const SUSPICIOUS_MS = 20;
/** A shared machine computes at half its speed for seconds at a time, so both lengths are measured in turn, and the shortest times count. */
const ROUNDS = 5;

/** Null if the time grows with the length of the field. Otherwise says how it grows. */
export async function slowness(attack: Attack): Promise<string | null> {
  if ((await timeOf(attack, LENGTH)) < SUSPICIOUS_MS) return null;
  let [once, twice] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let round = 0; round < ROUNDS; round++) {
    once = Math.min(once, await timeOf(attack, LENGTH));
    twice = Math.min(twice, await timeOf(attack, 2 * LENGTH));
  }
  if (!growsTooFast(once, twice)) return null;
  return `${nameOf(attack)}: ${once.toFixed(0)} ms for ${LENGTH} characters, ${twice.toFixed(0)} ms for twice as many`;
}

/** Judges the times for a field and for one that is twice as long. */
export function growsTooFast(once: number, twice: number): boolean {
  return twice >= SUSPICIOUS_MS && twice / once >= 3;
}
