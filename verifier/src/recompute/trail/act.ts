import type { Person } from '@rrs/evidence-format';
import { EVIDENCE, type Fault } from '../fault.ts';

/** When something was done, and by whom. */
export interface Act {
  at: string;
  person: string | null;
}

/** Whether the trail names another person. An act without an event proves nothing. */
export function isOther(act: Act | null | undefined, { person }: Person): boolean {
  return act !== null && act !== undefined && act.person !== person;
}

export function omitted(what: string): Fault {
  return { code: 'omitted', file: EVIDENCE, detail: `The audit trail shows ${what}, but the document does not.` };
}

export function unproven(file: string, what: string): Fault {
  return { code: 'unproven', file, detail: `The audit trail does not show ${what}.` };
}
