import { createHash } from 'node:crypto';
import { date } from '@rrs/scan-reports/read.ts';
import { Type } from 'typebox';
import { ConnectorError } from '../connector-error.ts';
import { type Priority, type TicketState, ticketStates } from '../contract.ts';

/** Maps the service's states, priorities and keys to the vendors' names. */

export const priorities = ['critical', 'high', 'medium', 'low'] as const satisfies readonly Priority[];

export type PriorityNames = Readonly<Record<Priority, string>>;
export type StateNames = Readonly<Partial<Record<TicketState, readonly string[]>>>;

export function PriorityNamesField(defaults: PriorityNames, description: string) {
  const name = (priority: Priority) =>
    Type.Optional(
      Type.String({
        title: titleOf(priority),
        description: `The vendor's name for ${priority} priority.`,
        default: defaults[priority],
        minLength: 1,
        maxLength: 255,
      }),
    );
  return Type.Optional(
    Type.Object(
      { critical: name('critical'), high: name('high'), medium: name('medium'), low: name('low') },
      { title: 'Priorities', 'x-group': 'advanced', description, additionalProperties: false },
    ),
  );
}

const STATE_EXAMPLES: Readonly<Record<TicketState, string>> = { open: 'To Do', in_progress: 'In Progress', done: 'Done', rejected: "Won't Do" };

export function StateNamesField(description: string) {
  const names = (state: TicketState) =>
    Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 255 }), {
        title: titleOf(state),
        description: `Statuses that mean ${state.replace('_', ' ')}. The service sets the first one that the ticket can change to.`,
        examples: [[STATE_EXAMPLES[state]]],
        maxItems: 50,
      }),
    );
  return Type.Optional(
    Type.Object(
      { open: names('open'), in_progress: names('in_progress'), done: names('done'), rejected: names('rejected') },
      { title: 'States', 'x-group': 'advanced', description, additionalProperties: false },
    ),
  );
}

function titleOf(name: string): string {
  return `${name.charAt(0).toUpperCase()}${name.slice(1).replace('_', ' ')}`;
}

export function LabelField(description: string) {
  return Type.Optional(
    Type.String({
      title: 'Label',
      'x-group': 'advanced',
      description: `${description} The service finds its tickets by this label, so do not change it later.`,
      default: 'rrs',
      pattern: '^[a-z0-9][a-z0-9-]{0,29}$',
    }),
  );
}

export function labelOf({ label }: { label?: string | undefined }): string {
  return label ?? 'rrs';
}

/** A label for the key. It contains no characters that are special in a query language. */
export function markerOf(label: string, key: string): string {
  const word = /^[a-z0-9][a-z0-9-]{0,59}$/.test(key) ? key : createHash('sha256').update(key).digest('hex').slice(0, 40);
  return `${label}-${word}`;
}

export function priorityNames(given: { [P in Priority]?: string | undefined } | undefined, defaults: PriorityNames): PriorityNames {
  const name = (priority: Priority): string => given?.[priority] ?? defaults[priority];
  return { critical: name('critical'), high: name('high'), medium: name('medium'), low: name('low') };
}

export function priorityByName(names: PriorityNames, name: string | undefined): Priority | null {
  return priorities.find((priority) => sameName(names[priority], name)) ?? null;
}

export function stateByName(names: StateNames | undefined, name: string | undefined): TicketState | null {
  return ticketStates.find((state) => names?.[state]?.some((one) => sameName(one, name))) ?? null;
}

export function includesName(names: readonly string[], name: string | undefined): boolean {
  return names.some((one) => sameName(one, name));
}

/** Ignores case, and treats both forms of the apostrophe alike because vendors use either. */
function sameName(one: string, other: string | undefined): boolean {
  const plain = (name: string): string => name.trim().toLowerCase().replaceAll('’', "'");
  return other !== undefined && plain(one) === plain(other);
}

export function parseTime(value: unknown, what: string): Date {
  const found = date(value);
  if (!found) throw new ConnectorError('invalid_answer', `The vendor did not send the time of the last change of ${what}.`);
  return found;
}
