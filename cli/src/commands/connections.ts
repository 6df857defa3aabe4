import type { Client, Connection, ConnectionHealth, SyncRun } from '@rrs/client';
import { choicesOf, flagOf, JSON_OPTION, LIMIT_OPTION } from '../arguments.ts';
import { collect } from '../collect.ts';
import { type Call, type Command, EXIT, UsageError } from '../command.ts';
import { minuteOf, pageSize, printJson, printList } from '../print.ts';
import { type Column, painter, printable, progress, table } from '../terminal.ts';

const KINDS = ['scanner', 'enrichment', 'ticketing'] as const;

const columns: readonly Column<Connection>[] = [
  { title: 'provider', value: ({ provider }) => provider },
  { title: 'kind', value: ({ kind }) => kind },
  { title: 'status', value: ({ enabled, sync_status }) => (enabled ? sync_status : 'paused') },
  { title: 'last run', value: ({ last_run }) => minuteOf(last_run?.finished_at ?? null) },
  { title: 'next run', value: ({ next_run_at }) => minuteOf(next_run_at) },
  { title: 'id', value: ({ id }) => id },
  { title: 'name', value: ({ name }) => name },
];

export const listConnections: Command = {
  options: { kind: { type: 'string', multiple: true, value: 'LIST', help: `One of ${KINDS.join(', ')}.`, choices: KINDS }, ...LIMIT_OPTION, ...JSON_OPTION },
  examples: ['rrs connections list', 'rrs connections list --kind scanner --json'],
  run(call) {
    const kind = choicesOf(call, 'kind', KINDS);
    const query = { ...(kind.length > 0 ? { kind } : {}), limit: pageSize(call) };
    return printList(call, call.client().list('listConnections', { query }), columns, 'No connections.');
  },
};

const BROKEN: readonly string[] = ['failing', 'stale'];

const healthColumns: readonly Column<ConnectionHealth>[] = [
  { title: 'status', value: ({ status }) => status, style: ({ status }) => (BROKEN.includes(status) ? 'red' : status === 'healthy' ? 'green' : 'medium') },
  { title: 'last success', value: ({ last_success_at }) => minuteOf(last_success_at) },
  { title: 'failures', value: ({ consecutive_failures }) => String(consecutive_failures) },
  { title: 'name', value: ({ name }) => name, isCut: true },
  { title: 'problem', value: ({ last_error }) => last_error?.message ?? '' },
];

export const connectionsHealth: Command = {
  options: JSON_OPTION,
  examples: ['rrs connections health', "rrs connections health --json | jq '.summary'"],
  exitStatus: '0 all connections work, 1 some are failing or stale, 2 mistake in the command, 3 problem with the service.',
  async run(call) {
    const health = await call.client().call('getIntegrationHealth');
    if (flagOf(call, 'json')) printJson(call, health);
    else call.terminal.out(health.connections.length === 0 ? 'No connections.\n' : table(health.connections, healthColumns, call.terminal));
    return health.connections.some(({ status }) => BROKEN.includes(status)) ? EXIT.failed : EXIT.ok;
  },
};

export const syncConnections: Command = {
  arguments: '[ID|NAME…]',
  options: {
    all: { type: 'boolean', help: 'Run all scanner connections.' },
    full: { type: 'boolean', help: 'Fetch everything, not only what changed.' },
    wait: { type: 'boolean', help: 'Wait until the runs end. This is the default; --no-wait only queues them.' },
    ...JSON_OPTION,
  },
  examples: ['rrs connections sync "Tenable production"', 'rrs connections sync --all --no-wait'],
  exitStatus: '0 done, 1 a run failed, 2 mistake in the command, 3 problem with the service.',
  async run(call) {
    const all = flagOf(call, 'all') === true;
    if (all === call.positionals.length > 0) throw new UsageError('Name connections by id or name, or use --all.');
    if (all && flagOf(call, 'full')) throw new UsageError('--full needs connections by id or name.');
    const client = call.client();
    const runs = all ? await queueAll(client, call) : await queue(client, call);
    const done = flagOf(call, 'wait') === false ? runs : await Promise.all(runs.map((run) => waitForRun(client, call, run)));
    if (flagOf(call, 'json')) printJson(call, done);
    else for (const run of done) call.terminal.out(await describe(client, run, call));
    return done.some(({ status }) => status === 'failed' || status === 'cancelled') ? EXIT.failed : EXIT.ok;
  },
};

async function queueAll(client: Client, call: Call): Promise<SyncRun[]> {
  const { data } = await client.call('syncAllConnections');
  for (const { name, reason } of data) if (reason !== null) call.terminal.err(`${printable(name)}: not queued (${reason.replaceAll('_', ' ')})\n`);
  return Promise.all(data.flatMap(({ connection_id, run_id }) => (run_id === null ? [] : [client.call('getRun', { path: { id: connection_id, run_id } })])));
}

async function queue(client: Client, call: Call): Promise<SyncRun[]> {
  const known = await collect(client.list('listConnections', { query: { limit: 200 } }));
  const chosen = call.positionals.map((wanted) => {
    const [found, another] = known.filter(({ id, name }) => id === wanted || name.toLowerCase() === wanted.toLowerCase());
    if (found === undefined) throw new UsageError(`There is no connection "${wanted}". "rrs connections list" lists them.`);
    if (another !== undefined) throw new UsageError(`There are several connections "${wanted}". Name one by its id.`);
    return found;
  });
  const full = flagOf(call, 'full') === true;
  return Promise.all(chosen.map(({ id }) => client.call('syncConnection', { path: { id }, query: { full } })));
}

const POLL_MS = 500;

async function waitForRun(client: Client, call: Call, first: SyncRun): Promise<SyncRun> {
  const line = progress(call.terminal);
  let run = first;
  while (run.status === 'queued' || run.status === 'running') {
    line.show(`fetching  ${run.progress.records} records`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    run = await client.call('getRun', { path: { id: run.connection_id, run_id: run.id } });
  }
  line.clear();
  return run;
}

async function describe(client: Client, { connection_id, status, counts, error }: SyncRun, { terminal }: Call): Promise<string> {
  const { name } = await client.call('getConnection', { path: { id: connection_id } });
  const word = painter(terminal)(status, status === 'succeeded' ? 'green' : status === 'failed' ? 'red' : '');
  const changes = `${counts.created} new, ${counts.reopened} reopened, ${counts.closed} fixed, ${counts.updated} updated, ${counts.unchanged} unchanged`;
  return `${printable(name)}: ${word}. ${error === null ? changes : printable(error.message)}\n`;
}
