import { createHash } from 'node:crypto';
import { date } from '@rrs/scan-reports/read.ts';
import { Type } from 'typebox';
import { ConnectorError, type Priority, type TicketState, ticketStates } from '../contract.ts';

/** Our words and the vendors'. */

export const priorities = ['critical', 'high', 'medium', 'low'] as const satisfies readonly Priority[];

export type PriorityNames = Readonly<Record<Priority, string>>;
export type StateNames = Readonly<Partial<Record<TicketState, readonly string[]>>>;

export function PriorityNamesField(defaults: PriorityNames, description: string) {
  const name = (priority: Priority) =>
    Type.Optional(
      Type.String({ title: priority, description: `What a ${priority} one is called there`, default: defaults[priority], minLength: 1, maxLength: 255 }),
    );
  return Type.Optional(
    Type.Object(
      { critical: name('critical'), high: name('high'), medium: name('medium'), low: name('low') },
      { title: 'Priorities', description, additionalProperties: false },
    ),
  );
}

export function StateNamesField(description: string) {
  const names = (state: TicketState) =>
    Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 255 }), {
        title: state,
        description: `Statuses that mean ${state.replace('_', ' ')}; the first that can be reached is the one that is set`,
        maxItems: 50,
      }),
    );
  return Type.Optional(
    Type.Object(
      { open: names('open'), in_progress: names('in_progress'), done: names('done'), rejected: names('rejected') },
      { title: 'States', description, additionalProperties: false },
    ),
  );
}

export function LabelField(description: string) {
  return Type.Optional(
    Type.String({
      title: 'Label',
      description: `${description} Tickets are found again by it, so it should not change later`,
      default: 'rrs',
      pattern: '^[a-z0-9][a-z0-9-]{0,29}$',
    }),
  );
}

export function labelOf({ label }: { label?: string | undefined }): string {
  return label ?? 'rrs';
}

/** A word that stands for the key in any query language: nothing in it means anything there. */
export function markerOf(label: string, key: string): string {
  const word = /^[a-z0-9][a-z0-9-]{0,59}$/.test(key) ? key : createHash('sha256').update(key).digest('hex').slice(0, 40);
  return `${label}-${word}`;
}

export function priorityNames(given: { [P in Priority]?: string | undefined } | undefined, defaults: PriorityNames): PriorityNames {
  return Object.fromEntries(priorities.map((priority) => [priority, given?.[priority] ?? defaults[priority]])) as unknown as PriorityNames;
}

export function priorityCalled(names: PriorityNames, name: string | undefined): Priority | null {
  return priorities.find((priority) => sameName(names[priority], name)) ?? null;
}

export function stateCalled(names: StateNames | undefined, name: string | undefined): TicketState | null {
  return ticketStates.find((state) => names?.[state]?.some((one) => sameName(one, name))) ?? null;
}

export function isCalled(names: readonly string[], name: string | undefined): boolean {
  return names.some((one) => sameName(one, name));
}

/** Vendors spell their own names with either apostrophe. */
function sameName(one: string, other: string | undefined): boolean {
  const plain = (name: string): string => name.trim().toLowerCase().replaceAll('’', "'");
  return other !== undefined && plain(one) === plain(other);
}

export function moment(value: unknown, what: string): Date {
  const found = date(value);
  if (!found) throw new ConnectorError('invalid_answer', `The vendor gave no time of the last change of ${what}.`);
  return found;
}
