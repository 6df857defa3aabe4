import { arr, obj, str } from '@rrs/scan-reports/read.ts';
import { Type } from 'typebox';
import { ConnectorError } from '../../core/connector-error.ts';
import type { Http, Json, TicketState } from '../../core/contract.ts';
import { includesName } from '../../core/tickets/mapping.ts';
import { isRejection, type JiraConfig, stateOfStatus } from './mapping.ts';

const Transitions = Type.Object({ transitions: Type.Array(Type.Object({ id: Type.String(), to: Type.Unknown(), fields: Type.Optional(Type.Unknown()) })) });
type Transition = { id: string; to: unknown; fields?: unknown };

/** The maximum number of transitions from one state to another. */
const MAX_STEPS = 4;
const DONE = ['Done', 'Fixed', 'Resolved', 'Complete', 'Completed'];

export interface Move {
  http: Http;
  config: JiraConfig;
  /** The path of the issue: rest/api/3/issue/10000 */
  path: string;
  state: TicketState;
  /** Reads the current status and resolution of the issue. */
  current(): Promise<{ status: unknown; resolution: unknown }>;
}

/** Workflows differ between projects, and Jira only lists the transitions from the current status. So this takes a step towards the target and looks again. */
export async function moveTo({ http, config, path, state, current }: Move): Promise<void> {
  const visited = new Set<string>();
  for (let step = 0; step < MAX_STEPS; step++) {
    const { status, resolution } = await current();
    if (stateOfStatus(config, status, resolution) === state) return;
    visited.add(nameOf(status));
    const { transitions } = await http.getJson(`${path}/transitions`, Transitions, { expand: 'transitions.fields' });
    const chosen = directTransition(config, transitions, state) ?? stepTowards(config, transitions, visited);
    if (!chosen) throw noTransition(transitions, nameOf(status), state);
    const fields = resolutionFor(config, chosen, state);
    await http.json(Type.Unknown(), { method: 'POST', path: `${path}/transitions`, json: { transition: { id: chosen.id }, ...fields } });
  }
  const { status } = await current();
  throw noTransition([], nameOf(status), state);
}

function nameOf(status: unknown): string {
  return str(obj(status).name) ?? '';
}

function directTransition(config: JiraConfig, transitions: readonly Transition[], state: TicketState): Transition | undefined {
  const preferred = (config.states?.[state] ?? []).flatMap((name) => transitions.filter(({ to }) => includesName([name], nameOf(to))));
  const fitting = transitions.filter(({ to }) => stateOfStatus(config, to) === state);
  const resolved =
    state === 'rejected' ? transitions.filter((one) => stateOfStatus(config, one.to) === 'done' && rejectionName(config, one) !== undefined) : [];
  return [...preferred, ...fitting, ...resolved][0];
}

/** Prefers in progress, which usually connects the other states, and then open. Never returns to a visited status. */
function stepTowards(config: JiraConfig, transitions: readonly Transition[], visited: ReadonlySet<string>): Transition | undefined {
  const fresh = transitions.filter(({ to }) => !visited.has(nameOf(to)));
  const findTo = (state: TicketState) => fresh.find(({ to }) => stateOfStatus(config, to) === state);
  return findTo('in_progress') ?? findTo('open');
}

function resolutionNames(transition: Transition): string[] {
  return arr(obj(obj(transition.fields).resolution).allowedValues).flatMap((value) => str(obj(value).name) ?? []);
}

function rejectionName(config: JiraConfig, transition: Transition): string | undefined {
  return resolutionNames(transition).find((name) => isRejection(config, name));
}

/** The resolution to set, if the transition offers any. */
function resolutionFor(config: JiraConfig, transition: Transition, state: TicketState): Record<string, Json> {
  const offered = resolutionNames(transition);
  const fitting = offered.filter((name) => !isRejection(config, name));
  const name = state === 'rejected' ? rejectionName(config, transition) : (fitting.find((one) => includesName(DONE, one)) ?? fitting[0]);
  return name === undefined ? {} : { fields: { resolution: { name } } };
}

function noTransition(transitions: readonly Transition[], from: string, state: TicketState): ConnectorError {
  const offers = transitions.map(({ to }) => nameOf(to)).join(', ') || 'none';
  return new ConnectorError(
    'configuration',
    `The Jira workflow has no path from “${from}” to a status that means ${state.replace('_', ' ')}. Available statuses: ${offers}. Set the names of the statuses under States in the configuration, or change the workflow.`,
  );
}
