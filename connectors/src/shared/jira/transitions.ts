import { arr, obj, str } from '@rrs/scan-reports/read.ts';
import { Type } from 'typebox';
import { ConnectorError, type Http, type Json, type TicketState } from '../../core/contract.ts';
import { isCalled } from '../../core/tickets/mapping.ts';
import { isRejection, type JiraConfig, stateOfStatus } from './mapping.ts';

const Transitions = Type.Object({ transitions: Type.Array(Type.Object({ id: Type.String(), to: Type.Unknown(), fields: Type.Optional(Type.Unknown()) })) });
type Transition = { id: string; to: unknown; fields?: unknown };

/** Longest way that is gone from one status to another. */
const STEPS = 4;
const DONE = ['Done', 'Fixed', 'Resolved', 'Complete', 'Completed'];

export interface Move {
  http: Http;
  config: JiraConfig;
  /** Of the issue: rest/api/3/issue/10000 */
  path: string;
  state: TicketState;
  /** The status and the resolution that the issue has now. */
  now(): Promise<{ status: unknown; resolution: unknown }>;
}

/** Workflows are the customers' own: only what Jira offers at each step is known, so it goes towards the wanted state and looks again. */
export async function moveTo({ http, config, path, state, now }: Move): Promise<void> {
  const passed = new Set<string>();
  for (let step = 0; step < STEPS; step++) {
    const { status, resolution } = await now();
    if (stateOfStatus(config, status, resolution) === state) return;
    passed.add(nameOf(status));
    const { transitions } = await http.getJson(`${path}/transitions`, Transitions, { expand: 'transitions.fields' });
    const chosen = directly(config, transitions, state) ?? towards(config, transitions, passed);
    if (!chosen) throw noWay(transitions, nameOf(status), state);
    const fields = resolutionFor(config, chosen, state);
    await http.json(Type.Unknown(), { method: 'POST', path: `${path}/transitions`, json: { transition: { id: chosen.id }, ...fields } });
  }
  const { status } = await now();
  throw noWay([], nameOf(status), state);
}

function nameOf(status: unknown): string {
  return str(obj(status).name) ?? '';
}

function directly(config: JiraConfig, transitions: readonly Transition[], state: TicketState): Transition | undefined {
  const preferred = (config.states?.[state] ?? []).flatMap((name) => transitions.filter(({ to }) => isCalled([name], nameOf(to))));
  const fitting = transitions.filter(({ to }) => stateOfStatus(config, to) === state);
  const resolved = state === 'rejected' ? transitions.filter((one) => stateOfStatus(config, one.to) === 'done' && rejection(config, one) !== undefined) : [];
  return [...preferred, ...fitting, ...resolved][0];
}

/** In progress lies between everything else; from there or from a closed one the way may lead through open. */
function towards(config: JiraConfig, transitions: readonly Transition[], passed: ReadonlySet<string>): Transition | undefined {
  const fresh = transitions.filter(({ to }) => !passed.has(nameOf(to)));
  const leadingTo = (state: TicketState) => fresh.find(({ to }) => stateOfStatus(config, to) === state);
  return leadingTo('in_progress') ?? leadingTo('open');
}

function resolutions(transition: Transition): string[] {
  return arr(obj(obj(transition.fields).resolution).allowedValues).flatMap((value) => str(obj(value).name) ?? []);
}

function rejection(config: JiraConfig, transition: Transition): string | undefined {
  return resolutions(transition).find((name) => isRejection(config, name));
}

/** Where the transition asks for a resolution. */
function resolutionFor(config: JiraConfig, transition: Transition, state: TicketState): Record<string, Json> {
  const offered = resolutions(transition);
  const fitting = offered.filter((name) => !isRejection(config, name));
  const name = state === 'rejected' ? rejection(config, transition) : (fitting.find((one) => isCalled(DONE, one)) ?? fitting[0]);
  return name === undefined ? {} : { fields: { resolution: { name } } };
}

function noWay(transitions: readonly Transition[], from: string, state: TicketState): ConnectorError {
  const offers = transitions.map(({ to }) => nameOf(to)).join(', ') || 'nothing more';
  return new ConnectorError(
    'configuration',
    `Jira leads from “${from}” to no status that means ${state.replace('_', ' ')}; it offers: ${offers}. Name the statuses under States in the configuration, or change the workflow.`,
  );
}
