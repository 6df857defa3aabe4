import { type Obj, obj, str } from '@rrs/scan-reports/read.ts';
import { type Static, Type } from 'typebox';
import { ConnectorError } from '../../core/connector-error.ts';
import type { Http, Json, Ticket, TicketChange, TicketState } from '../../core/contract.ts';
import {
  includesName,
  LabelField,
  labelOf,
  type PriorityNames,
  PriorityNamesField,
  parseTime,
  priorityByName,
  priorityNames,
  StateNamesField,
  stateByName,
} from '../../core/tickets/mapping.ts';
import { fitParagraphs, footerOf, markdown, oneLine } from '../../core/tickets/text.ts';
import { nodes, send, uuidOf } from './graphql.ts';

const MAX_TITLE = 255;
export const MAX_TEXT = 50_000;
const PRIORITIES: PriorityNames = { critical: '1', high: '2', medium: '3', low: '4' };
const TYPES: Readonly<Record<string, TicketState>> = {
  triage: 'open',
  backlog: 'open',
  unstarted: 'open',
  started: 'in_progress',
  completed: 'done',
  canceled: 'rejected',
  duplicate: 'rejected',
};
/** The types to choose from when setting a state, in order of preference. */
const TARGETS: Readonly<Record<TicketState, readonly string[]>> = {
  open: ['unstarted', 'backlog', 'triage'],
  in_progress: ['started'],
  done: ['completed'],
  rejected: ['canceled', 'duplicate'],
};

export const Config = Type.Object({
  api_url: Type.String({ title: 'API URL', 'x-group': 'advanced', description: 'URL of the Linear API.', format: 'uri', default: 'https://api.linear.app' }),
  team_key: Type.String({
    title: 'Team',
    examples: ['SEC'],
    description: 'The letters before the number of an issue, such as SEC.',
    pattern: '^[A-Za-z0-9]+$',
  }),
  label: LabelField('Every issue that the service creates gets this label. The service creates the label if it is missing.'),
  priorities: PriorityNamesField(PRIORITIES, 'Numbers of priorities in Linear: 1 urgent, 2 high, 3 medium, 4 low.'),
  states: StateNamesField('Names of states. Needed only if the type of a state (backlog, unstarted, started, completed, canceled) is not enough.'),
});
export type Config = Static<typeof Config>;

export const ISSUE = `id identifier url title description priority priorityLabel dueDate createdAt updatedAt startedAt completedAt canceledAt archivedAt trashed
  state { id name type } assignee { id name displayName email } labels(first: 20) { nodes { id name } } team { id key }`;

export function ticketOf(config: Config, issue: Obj): Ticket {
  const { id, identifier, url, title, priority, dueDate, assignee, updatedAt, trashed } = issue;
  const { name, type } = obj(issue.state);
  return {
    id: str(id) ?? '',
    key: str(identifier) ?? '',
    url: str(url) ?? '',
    state: trashed === true ? 'rejected' : (stateByName(config.states, str(name)) ?? TYPES[str(type) ?? ''] ?? 'open'),
    stateName: `${str(name) ?? ''}${trashed === true ? ' (in the trash)' : ''}`,
    title: str(title) ?? '',
    priority: priorityByName(priorityNames(config.priorities, PRIORITIES), str(priority)),
    dueDate: str(dueDate) ?? null,
    assignee: str(obj(assignee).displayName) ?? str(obj(assignee).name) ?? null,
    updatedAt: parseTime(updatedAt, str(identifier) ?? 'an issue'),
    raw: issue as Json,
  };
}

export function inputOf(config: Config, { title, body, priority, dueDate }: TicketChange, before = ''): Record<string, Json> {
  return {
    ...(title === undefined ? {} : { title: oneLine(title, MAX_TITLE) }),
    ...(body === undefined ? {} : { description: `${markdown(fitParagraphs(body, MAX_TEXT))}\n\n${footerOf(before)}`.trim() }),
    ...(priority === undefined ? {} : { priority: Number(priorityNames(config.priorities, PRIORITIES)[priority]) }),
    ...(dueDate === undefined ? {} : { dueDate }),
  };
}

export interface Team {
  id: string;
  states: readonly Obj[];
  /** The id of the label. Null if it does not exist yet. */
  label: string | null;
}

export async function teamOf(http: Http, config: Config): Promise<Team> {
  const query = `query($team: String!, $label: String!) {
    teams(first: 1, filter: { key: { eq: $team } }) { nodes { id key name states(first: 100) { nodes { id name type position } } } }
    issueLabels(first: 50, filter: { name: { eq: $label } }) { nodes { id name team { id } } }
  }`;
  const data = await send(http, { query, variables: { team: config.team_key, label: labelOf(config) }, repeatable: true });
  const [team] = nodes(data.teams);
  const id = str(team?.id);
  if (!team || id === undefined) throw new ConnectorError('configuration', `Linear has no team ${config.team_key}, or this key may not read it.`);
  const label = nodes(data.issueLabels).find((one) => [undefined, id].includes(str(obj(one.team).id)));
  return { id, states: nodes(team.states), label: str(label?.id) ?? null };
}

/** The id of the label is derived as well, so that two concurrent calls create only one label. */
export async function labelFor(http: Http, config: Config, team: Team): Promise<string> {
  if (team.label !== null) return team.label;
  const input = { id: uuidOf(`label ${team.id} ${labelOf(config)}`), name: labelOf(config), teamId: team.id };
  const query = 'mutation($input: IssueLabelCreateInput!) { issueLabelCreate(input: $input) { success issueLabel { id } } }';
  const data = await send(http, { query, variables: { input }, repeatable: false });
  return str(obj(obj(data.issueLabelCreate).issueLabel).id) ?? input.id;
}

export function stateFor(config: Config, { states }: Team, state: TicketState): string {
  const ordered = states.toSorted((one, other) => Number(one.position) - Number(other.position));
  const named = (config.states?.[state] ?? []).flatMap((name) => ordered.filter((one) => includesName([name], str(one.name))));
  const fitting = TARGETS[state].flatMap((type) => ordered.filter((one) => one.type === type));
  const id = str([...named, ...fitting][0]?.id);
  if (id !== undefined) return id;
  const offers = ordered.flatMap(({ name }) => str(name) ?? []).join(', ');
  throw new ConnectorError(
    'configuration',
    `No state of the team means ${state.replace('_', ' ')}. Set one of these under States in the configuration: ${offers}.`,
  );
}
