import { type Field, leaves, type Part } from './schema.ts';

/** What the fields of a form contain, by JSON pointer. `null`: the stored value is to be removed. */
export type Values = Readonly<Record<string, Value>>;
export type Value = string | boolean | readonly string[] | null;

export type Body = Record<Part, Record<string, unknown>>;

const emptyOf = ({ kind }: Field): Value => (kind === 'words' || kind === 'choices' ? [] : kind === 'switch' ? false : '');

/** What a form shows at first: what is stored, or else the defaults. Secrets are never returned, so their fields are empty. */
export function initialValues(fields: readonly Field[], stored?: Record<string, unknown>): Values {
  return Object.fromEntries(
    fields.flatMap((field): [string, Value][] => {
      if (field.kind === 'group') return Object.entries(initialGroup(field, stored?.[field.name]));
      const known = stored === undefined ? field.fallback : field.part === 'config' ? stored[field.name] : undefined;
      return [[field.pointer, asValue(field, known)]];
    }),
  );
}

/** Values of a group are optional: an empty group stays absent, and its defaults apply. They are shown as placeholders. */
function initialGroup({ fields }: Field, stored: unknown): Values {
  return initialValues(fields, stored !== null && typeof stored === 'object' ? (stored as Record<string, unknown>) : {});
}

function asValue(field: Field, value: unknown): Value {
  if (value === undefined || value === null) return emptyOf(field);
  if (Array.isArray(value)) return value.map(String);
  if (field.kind === 'json') return JSON.stringify(value, null, 2);
  return typeof value === 'boolean' ? value : String(value);
}

/** What the API gets. Fields that were left empty are absent. */
export function bodyOf(fields: readonly Field[], values: Values): Body {
  const body: Body = { config: {}, credentials: {} };
  for (const field of fields) {
    const value = jsonOf(field, values);
    if (value !== undefined && value !== null) body[field.part][field.name] = value;
  }
  return body;
}

/** What changed: fields that were emptied are `null`. Secrets that were left empty stay as they are. */
export function changesOf(fields: readonly Field[], before: Values, values: Values): Partial<Body> {
  const changes: Body = { config: {}, credentials: {} };
  for (const field of fields) {
    const value = jsonOf(field, values) ?? null;
    const isChanged = field.part === 'credentials' ? value !== null || values[field.pointer] === null : !isSame(value, jsonOf(field, before) ?? null);
    if (isChanged) changes[field.part][field.name] = value;
  }
  return Object.fromEntries(Object.entries(changes).filter(([, part]) => Object.keys(part).length > 0));
}

const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

function jsonOf(field: Field, values: Values): unknown {
  if (field.kind === 'group') {
    const set = field.fields.map((child) => [child.name, jsonOf(child, values)] as const).filter(([, value]) => value !== undefined);
    return set.length === 0 ? undefined : Object.fromEntries(set);
  }
  const value = values[field.pointer] ?? null;
  if (value === null || typeof value === 'boolean') return value ?? undefined;
  if (typeof value !== 'string') return value.length === 0 ? undefined : value.map((word) => (field.isNumeric ? numberOr(word) : word));
  const text = field.isLong ? value : value.trim();
  if (text.trim() === '') return undefined;
  if (field.kind === 'number') return numberOr(text);
  return field.kind === 'json' ? JSON.parse(text) : text;
}

/** What is not a number stays as it was typed: the service says so at the field. */
const numberOr = (text: string): number | string => (Number.isFinite(Number(text)) ? Number(text) : text);

/** Problems that the API cannot name because they cannot be sent: JSON that is none. */
export function unreadable(fields: readonly Field[], values: Values): Record<string, string> {
  return Object.fromEntries(
    leaves(fields).flatMap((field) => {
      const value = values[field.pointer];
      if (field.kind !== 'json' || typeof value !== 'string' || value.trim() === '') return [];
      try {
        JSON.parse(value);
        return [];
      } catch {
        return [[field.pointer, 'must be JSON, with names and texts in double quotes']];
      }
    }),
  );
}

interface FieldProblem {
  path: string;
  detail: string;
}

/** Problems at the fields that they concern, and those that concern none. `/config/regions/0` concerns the field `/config/regions`. */
export function assign(fields: readonly Field[], problems: readonly FieldProblem[]): { at: Record<string, string>; rest: FieldProblem[] } {
  const at: Record<string, string> = {};
  const rest: FieldProblem[] = [];
  const known = leaves(fields);
  for (const problem of problems) {
    const field = known.find(({ pointer }) => problem.path === pointer || problem.path.startsWith(`${pointer}/`));
    if (field === undefined) rest.push(problem);
    else at[field.pointer] ??= problem.detail;
  }
  return { at, rest };
}
