import type { InputOf } from '@rrs/client';
import { flagOf, listOf, textOf } from './arguments.ts';
import { type Call, type Option, type Options, UsageError } from './command.ts';

type Query = NonNullable<InputOf<'listFindings'>['query']>;
export type Filter = Omit<Query, 'limit' | 'cursor' | 'sort' | 'total'>;
type Kind = 'list' | 'text' | 'flag' | 'number';

const SEVERITIES = ['critical', 'high', 'medium', 'low', 'info', 'unknown'];
const STATUSES = ['open', 'in_progress', 'remediated', 'verified', 'risk_accepted', 'false_positive', 'withdrawn'];
const ASSET_TYPES = ['host', 'container_image', 'repository', 'package', 'web_application', 'cloud_resource', 'other'];
const SOURCE_KINDS = ['import', 'connection', 'manual'];
const LEVELS = ['low', 'medium', 'high', 'critical'];
const EXPOSURES = ['internet', 'internal', 'unknown'];

/** The filters of the API. Each is an option of the same name, with "-" for "_". */
const FILTERS = {
  severity: ['list', 'One of these severities.', SEVERITIES],
  not_severity: ['list', 'None of these severities.', SEVERITIES],
  status: ['list', 'One of these statuses.', STATUSES],
  not_status: ['list', 'None of these statuses.', STATUSES],
  connection_id: ['text', 'Seen by this connection.'],
  source: ['list', 'Seen by one of these tools.'],
  not_source: ['list', 'Not seen by these tools.'],
  source_kind: ['list', 'Seen in uploaded reports, by a connection, or by people.', SOURCE_KINDS],
  asset_id: ['text', 'On this asset.'],
  asset: ['text', 'On assets whose name contains this.'],
  asset_type: ['list', 'On assets of one of these types.', ASSET_TYPES],
  not_asset_type: ['list', 'Not on assets of these types.', ASSET_TYPES],
  asset_version: ['text', 'On this version of the asset.'],
  track: ['list', 'On one of these tracks.'],
  new_since_track: ['text', 'Not on this track: with --track, what a branch adds to another.'],
  owner: ['list', 'On assets of one of these owners.'],
  criticality: ['list', 'On assets of one of these criticalities.', LEVELS],
  exposure: ['list', 'On assets with one of these exposures.', EXPOSURES],
  asset_tag: ['list', 'On assets with one of these tags.'],
  not_asset_tag: ['list', 'Not on assets with these tags.'],
  import_id: ['text', 'Changed by this import.'],
  cve: ['list', 'One of these vulnerabilities.'],
  not_cve: ['list', 'None of these vulnerabilities.'],
  cwe: ['list', 'One of these weaknesses, such as 79.'],
  component: ['text', 'In this component.'],
  not_component: ['list', 'Not in these components.'],
  path: ['text', 'In this file or folder, from the root of the repository.'],
  not_path: ['list', 'Not in these files or folders.'],
  rule: ['list', 'Found by one of these rules.'],
  not_rule: ['list', 'Not found by these rules.'],
  has_fix: ['flag', 'A fix exists.'],
  severity_disputed: ['flag', 'Tools disagree about the severity.'],
  work_item_id: ['text', 'Linked to this work item.'],
  has_work_item: ['flag', 'Linked to a work item.'],
  assignee: ['list', 'Linked to a work item of one of these people or teams.'],
  kev: ['flag', 'Known to be exploited.'],
  epss_min: ['number', 'Probability of exploitation from 0 to 1, at least.'],
  risk_min: ['number', 'Risk from 0 to 100, at least.'],
  overdue: ['flag', 'Past the deadline.'],
  fix_first: ['flag', 'To fix first: exploited, overdue, or a risk of 70 or more.'],
  acceptance_requested: ['flag', 'Acceptance of the risk waits for approval.'],
  suppressed: ['flag', 'Suppressed in the tool.'],
  assurance: ['list', 'Closed with one of these assurances.'],
  tag: ['list', 'With one of these tags.'],
  not_tag: ['list', 'Without these tags.'],
  q: ['text', 'Words to search for.'],
  first_seen_from: ['text', 'First seen at this time or later.'],
  first_seen_to: ['text', 'First seen before this time.'],
  last_seen_from: ['text', 'Last seen at this time or later.'],
  last_seen_to: ['text', 'Last seen before this time.'],
  created_from: ['text', 'Created at this time or later.'],
  created_to: ['text', 'Created before this time.'],
  updated_from: ['text', 'Changed at this time or later.'],
  updated_to: ['text', 'Changed before this time.'],
  due_from: ['text', 'Deadline at this time or later.'],
  due_to: ['text', 'Deadline before this time.'],
} as const satisfies Record<keyof Filter, readonly [Kind, string, (readonly string[])?]>;

const optionName = (filter: string): string => filter.replaceAll('_', '-');

function optionOf([kind, help, choices]: readonly [Kind, string, (readonly string[])?]): Option {
  if (kind === 'flag') return { type: 'boolean', help, isFilter: true };
  return { type: 'string', multiple: kind === 'list', value: kind === 'list' ? 'LIST' : 'VALUE', help, isFilter: true, ...(choices ? { choices } : {}) };
}

export const FILTER_OPTIONS: Options = Object.fromEntries(Object.entries(FILTERS).map(([name, filter]) => [optionName(name), optionOf(filter)]));

function givenValue(call: Pick<Call, 'values'>, name: string, kind: Kind): unknown {
  const option = optionName(name);
  if (kind === 'flag') return flagOf(call, option);
  if (kind === 'list') return listOf(call, option).length === 0 ? undefined : listOf(call, option);
  const text = textOf(call, option);
  if (kind === 'text' || text === undefined) return text;
  if (!/^\d+(\.\d+)?$/.test(text)) throw new UsageError(`--${option} must be a number, not "${text}".`);
  return Number(text);
}

/** The service checks the values, and says what is allowed. */
export function filterOf(call: Pick<Call, 'values'>): Filter {
  const given = Object.entries(FILTERS).flatMap(([name, [kind]]) => {
    const value = givenValue(call, name, kind);
    return value === undefined ? [] : [[name, value]];
  });
  return Object.fromEntries(given) as Filter;
}

export const isEmpty = (filter: Filter): boolean => Object.keys(filter).length === 0;
