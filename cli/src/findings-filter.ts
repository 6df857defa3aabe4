import type { InputOf } from '@rrs/client';
import { type Call, listOf, type Option } from './command.ts';

type Query = NonNullable<InputOf<'listFindings'>['query']>;

/** Filters of the API that are options of the same name, with "-" for "_". */
const FILTERS = {
  severity: 'One of these severities: critical, high, medium, low, info, unknown.',
  status: 'One of these statuses: open, in_progress, remediated, verified, risk_accepted, false_positive, withdrawn.',
  source: 'Seen by one of these tools.',
  asset: 'On assets whose name contains this.',
  asset_type: 'On assets of one of these types.',
  track: 'On one of these tracks.',
  owner: 'On assets of one of these owners.',
  cve: 'One of these vulnerabilities.',
  component: 'In this component.',
  path: 'In this file or folder.',
  tag: 'With one of these tags.',
  kev: 'true: known to be exploited.',
  overdue: 'true: past the deadline.',
  has_fix: 'true: there is a fix.',
  q: 'Words to search for.',
} as const satisfies Partial<Record<keyof Query, string>>;

const optionOf = (name: string): string => name.replaceAll('_', '-');

export const FILTER_OPTIONS: Readonly<Record<string, Option>> = Object.fromEntries(
  Object.entries(FILTERS).map(([name, help]) => [optionOf(name), { type: 'string', multiple: true, value: 'VALUE', help }]),
);

/** The service checks the values, and says what is allowed. */
export function filterOf(call: Pick<Call, 'values'>): Query {
  const given = Object.keys(FILTERS).flatMap((name) => {
    const values = listOf(call, optionOf(name));
    return values.length === 0 ? [] : [[name, values]];
  });
  return Object.fromEntries(given) as Query;
}
