import { type Obj, obj, str } from '@rrs/scan-reports/read.ts';
import { type Static, Type } from 'typebox';
import { ConnectorError, type Http, type Json, type Ticket, type TicketChange, type TicketState } from '../../core/contract.ts';
import {
  isCalled,
  LabelField,
  labelOf,
  moment,
  type PriorityNames,
  PriorityNamesField,
  priorityCalled,
  priorityNames,
  StateNamesField,
  stateCalled,
} from '../../core/tickets/mapping.ts';
import { fitting, footerOf, markdown, oneLine } from '../../core/tickets/text.ts';
import { ask, nodes, uuidOf } from './graphql.ts';

const TITLE = 255;
export const TEXT = 50_000;
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
/** In order of preference, for setting a state. */
const TARGETS: Readonly<Record<TicketState, readonly string[]>> = {
  open: ['unstarted', 'backlog', 'triage'],
  in_progress: ['started'],
  done: ['completed'],
  rejected: ['canceled', 'duplicate'],
};

export const Config = Type.Object({
  api_url: Type.String({ title: 'API address', description: 'https://api.linear.app', format: 'uri', default: 'https://api.linear.app' }),
  team_key: Type.String({ title: 'Team', description: 'What stands before the number of its issues: SEC', pattern: '^[A-Za-z0-9]+$' }),
  label: LabelField('Every issue that we open gets this label, which is made where it is missing.'),
  priorities: PriorityNamesField(PRIORITIES, 'Numbers of priorities in Linear: 1 urgent, 2 high, 3 medium, 4 low'),
  states: StateNamesField('Only where the type of a state (backlog, unstarted, started, completed, canceled) is not enough'),
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
    state: trashed === true ? 'rejected' : (stateCalled(config.states, str(name)) ?? TYPES[str(type) ?? ''] ?? 'open'),
    stateName: `${str(name) ?? ''}${trashed === true ? ' (in the trash)' : ''}`,
    title: str(title) ?? '',
    priority: priorityCalled(priorityNames(config.priorities, PRIORITIES), str(priority)),
    dueDate: str(dueDate) ?? null,
    assignee: str(obj(assignee).displayName) ?? str(obj(assignee).name) ?? null,
    updatedAt: moment(updatedAt, str(identifier) ?? 'an issue'),
    raw: issue as Json,
  };
}

export function inputOf(config: Config, { title, body, priority, dueDate }: TicketChange, before = ''): Record<string, Json> {
  return {
    ...(title === undefined ? {} : { title: oneLine(title, TITLE) }),
    ...(body === undefined ? {} : { description: `${markdown(fitting(body, TEXT))}\n\n${footerOf(before)}`.trim() }),
    ...(priority === undefined ? {} : { priority: Number(priorityNames(config.priorities, PRIORITIES)[priority]) }),
    ...(dueDate === undefined ? {} : { dueDate }),
  };
}

export interface Team {
  id: string;
  states: readonly Obj[];
  /** The id of our label; null where it is still to be made. */
  label: string | null;
}

export async function teamOf(http: Http, config: Config): Promise<Team> {
  const query = `query($team: String!, $label: String!) {
    teams(first: 1, filter: { key: { eq: $team } }) { nodes { id key name states(first: 100) { nodes { id name type position } } } }
    issueLabels(first: 50, filter: { name: { eq: $label } }) { nodes { id name team { id } } }
  }`;
  const data = await ask(http, { query, variables: { team: config.team_key, label: labelOf(config) }, repeatable: true });
  const [team] = nodes(data.teams);
  const id = str(team?.id);
  if (!team || id === undefined) throw new ConnectorError('configuration', `Linear has no team ${config.team_key}, or does not show it to this key.`);
  const label = nodes(data.issueLabels).find((one) => [undefined, id].includes(str(obj(one.team).id)));
  return { id, states: nodes(team.states), label: str(label?.id) ?? null };
}

/** The label has a name that is derived too, so that two who make it at once make one. */
export async function labelFor(http: Http, config: Config, team: Team): Promise<string> {
  if (team.label !== null) return team.label;
  const input = { id: uuidOf(`label ${team.id} ${labelOf(config)}`), name: labelOf(config), teamId: team.id };
  const query = 'mutation($input: IssueLabelCreateInput!) { issueLabelCreate(input: $input) { success issueLabel { id } } }';
  const data = await ask(http, { query, variables: { input }, repeatable: false });
  return str(obj(obj(data.issueLabelCreate).issueLabel).id) ?? input.id;
}

export function stateFor(config: Config, { states }: Team, state: TicketState): string {
  const ordered = states.toSorted((one, other) => Number(one.position) - Number(other.position));
  const named = (config.states?.[state] ?? []).flatMap((name) => ordered.filter((one) => isCalled([name], str(one.name))));
  const fitting = TARGETS[state].flatMap((type) => ordered.filter((one) => one.type === type));
  const id = str([...named, ...fitting][0]?.id);
  if (id !== undefined) return id;
  const offers = ordered.flatMap(({ name }) => str(name) ?? []).join(', ');
  throw new ConnectorError('configuration', `No state of the team means ${state.replace('_', ' ')}. Name one under States; there are: ${offers}.`);
}
