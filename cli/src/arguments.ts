import { text } from 'node:stream/consumers';
import { type Call, type Options, UsageError } from './command.ts';

type Values = Pick<Call, 'values'>;

export const JSON_OPTION = { json: { type: 'boolean', help: 'Print JSON for programs.' } } as const satisfies Options;
export const LIMIT_OPTION = { limit: { type: 'string', value: 'NUMBER', help: 'Most entries to list. Default: 50.' } } as const satisfies Options;

export function textOf({ values }: Values, name: string): string | undefined {
  const value = values[name];
  return typeof value === 'string' ? value : undefined;
}

export function flagOf({ values }: Values, name: string): boolean | undefined {
  const value = values[name];
  return typeof value === 'boolean' ? value : undefined;
}

/** The values of an option that can be repeated or separated by commas. */
export function listOf({ values }: Values, name: string): string[] {
  return [values[name] ?? []]
    .flat()
    .flatMap((value) => String(value).split(','))
    .filter((value) => value !== '');
}

/** The values, if all of them are allowed. */
export function choicesOf<const Choice extends string>(call: Values, name: string, allowed: readonly Choice[]): Choice[] {
  return listOf(call, name).map((value) => {
    const found = allowed.find((one) => one === value);
    if (found === undefined) throw new UsageError(`--${name} cannot be "${value}". Allowed: ${allowed.join(', ')}.`);
    return found;
  });
}

export function choiceOf<const Choice extends string>(call: Values, name: string, allowed: readonly Choice[]): Choice | undefined {
  const [choice, surplus] = choicesOf(call, name, allowed);
  if (surplus !== undefined) throw new UsageError(`--${name} takes one value.`);
  return choice;
}

export function numberOf(call: Values, name: string): number | undefined {
  const value = textOf(call, name);
  if (value === undefined) return undefined;
  if (!/^[1-9]\d{0,5}$/.test(value)) throw new UsageError(`--${name} must be a number from 1 to 999999, not "${value}".`);
  return Number(value);
}

/** When something began: a time, or a day, which begins at midnight UTC. */
export function timeOf(call: Values, name: string): string | undefined {
  return parsedTime(call, name, (day) => day);
}

/** When something ends: a time, or a day, all of which counts. */
export function endOf(call: Values, name: string): string | undefined {
  return parsedTime(call, name, (day) => `${day}T23:59:59Z`);
}

function parsedTime(call: Values, name: string, timeOfDay: (day: string) => string): string | undefined {
  const value = textOf(call, name);
  if (value === undefined) return undefined;
  const time = new Date(/^\d{4}-\d\d-\d\d$/.test(value) ? timeOfDay(value) : value);
  if (Number.isNaN(time.getTime())) throw new UsageError(`--${name} must be a day or a time, such as 2027-03-31 or 2027-03-31T12:00:00Z, not "${value}".`);
  return time.toISOString();
}

/** The fields that have a value. */
export function given<T extends object>(fields: T): { [Key in keyof T]?: Exclude<T[Key], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as { [Key in keyof T]?: Exclude<T[Key], undefined> };
}

/** The only argument. */
export function oneArgument({ positionals }: Pick<Call, 'positionals'>, what: string): string {
  const [first, surplus] = positionals;
  if (first === undefined) throw new UsageError(`Name ${what}.`);
  if (surplus !== undefined) throw new UsageError(`Unexpected argument "${surplus}". Name ${what}.`);
  return first;
}

/** All arguments. "-" stands for the lines of standard input. */
export async function argumentsOrLines({ positionals }: Pick<Call, 'positionals'>): Promise<string[]> {
  const all = await Promise.all(positionals.map(async (one) => (one === '-' ? (await text(process.stdin)).split(/\s+/) : [one])));
  return all.flat().filter((one) => one !== '');
}
