import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { type Random, randomOf } from '../../../service/src/testing/truth/random.ts';
import { addKeys, bytesSource, emptyTrust, keyFilesIn, verifyPackage } from '../../../verifier/src/index.ts';
import { nodePlatform } from '../../../verifier/src/node.ts';
import { type Outcome, quantile } from '../figures.ts';
import { kill, postgresChildren, postgresPid, type Service, ServiceEnded, startService, temporaryDataDir, until } from '../processes.ts';
import { countAbandoned, type Facts, halfImports, pending, pendingTickets, violationsIn } from './invariants.ts';
import { emptyLedger, emptyParts } from './ledger.ts';
import { isReady, logAround, stateOf } from './look.ts';
import { startOutside } from './outside.ts';
import { planOf, type Victim, type WorkName, workNames } from './plan.ts';
import { upgrades } from './upgrades.ts';
import { type Caller, type Connections, repeatUnanswered, send, startReading, startWork, type Work } from './work.ts';

export interface Options {
  kills: number;
  seed: number;
  /** No further kills after this time. */
  minutes: number;
  /** The data folder of a service that was started before, to save the first start. */
  used?: string;
  /** Whether it waits in the end for tickets whose creation got no response, which takes two minutes. */
  areTicketsAwaited?: boolean;
  /** How long everything may take to end after a kill. */
  recoverySeconds?: number;
  /** Called after each kill. */
  onKill?: (line: string) => void;
}

const MAX_START_MS = 2_500;
const RECOVERY_SECONDS = 300;
const READY_SECONDS = 60;
const POLL_MS = 100;
/** A ticket whose creation got no response waits until the vendor's search would show it. */
const TICKET_SECONDS = 240;

/** Kills the service and its database at random moments of its work, and checks after each kill that nothing is lost, doubled or half done. */
export async function faults({
  kills,
  seed,
  minutes,
  used,
  areTicketsAwaited = true,
  recoverySeconds = RECOVERY_SECONDS,
  onKill = () => {},
}: Options): Promise<Outcome> {
  const { dataDir, remove } = temporaryDataDir(used);
  const outside = await startOutside();
  const violations: string[] = [];
  const ledger = emptyLedger();
  const settings = { RRS_OUTBOUND_ALLOW: '127.0.0.1', LOG_LEVEL: 'warn' };
  let service: Service = await startService(dataDir, settings);
  const caller: Caller = {
    url: () => service.url,
    key: readFileSync(join(dataDir, 'first-owner-key'), 'utf8').trim(),
    ledger,
    fail: (message) => violations.push(message),
    logAround: (requestId) => logAround(service, requestId),
  };
  const upgrading = upgrades(dataDir, ledger);
  const byVictim = new Map<Victim, number>();
  const recoveries: number[] = [];
  const started = Date.now();
  let repeated = 0;
  let verified = 0;
  let abandoned = 0;
  let done = 0;
  /** What ended last. */
  let last: string[] = [];

  const connections = await connect(caller, outside);
  const check = async (): Promise<void> => {
    const began = Date.now();
    repeated += await repeatUnanswered(caller);
    await withAdmin(dataDir, async (admin) => {
      const facts: Facts = { admin, dataDir, ledger, outside, upgrading };
      const hasEnded = async (): Promise<boolean> => {
        for (const half of await halfImports(facts)) violations.push(half);
        const left = await pending(facts);
        if (left.length > 0) last = left;
        return left.length === 0;
      };
      await until('all work has ended', recoverySeconds, hasEnded, POLL_MS).catch(async () =>
        violations.push(`not ended after ${recoverySeconds} s: ${(await pending(facts)).join(', ')}`),
      );
      violations.push(...(await violationsIn(facts)));
      abandoned = await countAbandoned(facts);
    });
    recoveries.push(Date.now() - began);
  };

  const settled = async (): Promise<void> => {
    const ready = until('the service is ready', READY_SECONDS, () => isReady(service.url));
    const isLate = await ready.then(
      () => false,
      () => true,
    );
    if (isLate) return void violations.push(`not ready after ${READY_SECONDS} s: ${await stateOf(service, dataDir)}`);
    await retried(() => upgrading.finish());
    await check();
  };
  const startRound = async (names: readonly WorkName[]): Promise<Work[]> => {
    const run = [...ledger.runs].at(-1);
    // A run that has not ended refuses another.
    const possible = (await isRunning(caller, run)) ? names.filter((name) => name !== 'sync') : names;
    return startWork(caller, possible, { round: done, connections, upgrade: () => upgrading.start() });
  };

  try {
    // Without this, a service that does no work at all would violate nothing.
    await Promise.all((await startRound(workNames)).map((one) => one.done));
    violations.push(...emptyParts(ledger).map((part) => `nothing was struck yet, and there is none of the ${part}`));
    for (const { work: names, waitMs, victim: chosen, isChecked } of planOf(seed, kills)) {
      if (violations.length > 0 || Date.now() - started > minutes * 60_000) break;
      done++;
      const work = await startRound(names);
      const stopReading = startReading(caller);
      await delay(waitMs);
      const victim = chosen === 'migration' && upgrading.current === null ? 'backend' : chosen;
      service = await strike(victim, { service, dataDir, settings, random: randomOf(seed + done), upgrading });
      await Promise.all([stopReading(), ...work.map((one) => one.done)]);
      byVictim.set(victim, (byVictim.get(victim) ?? 0) + 1);
      if (service.ended()) violations.push(`the service ended by itself after kill ${done} (${victim}): ${service.log().slice(-2_000)}`);
      if (!isChecked) continue;
      await settled();
      onKill(
        `${done} of ${kills}: ${victim} during ${work.map(({ name }) => name).join(', ')}; recovered in ${recoveries.at(-1)} ms, last ${last[0] ?? 'nothing'}`,
      );
    }
    if (violations.length === 0) {
      await settled();
      await withAdmin(dataDir, async (admin) => {
        const facts: Facts = { admin, dataDir, ledger, outside, upgrading };
        if (!areTicketsAwaited) return;
        const linked = until('all tickets are linked', TICKET_SECONDS, async () => (await pendingTickets(facts)).length === 0, POLL_MS);
        await linked.catch(async () => violations.push(`tickets are not linked: ${(await pendingTickets(facts)).join(', ')}`));
      });
      const tickets = outside.ticketsByLabel();
      if (tickets.size < ledger.tickets.size) violations.push(`${ledger.tickets.size} work items were pushed, and the vendor has ${tickets.size} tickets`);
      for (const [label, count] of tickets) if (count > 1) violations.push(`${count} tickets have the label ${label}`);
      verified = await verifyAll(caller, violations);
    }
  } finally {
    await service.stop();
    await outside.close();
    remove();
  }
  const deliveries = outside.deliveries.length;
  return {
    figures: [
      ['seed', seed],
      ['kills', `${done} (${[...byVictim].map(([victim, count]) => `${victim} ${count}`).join(', ')})`],
      ['duration', `${Math.round((Date.now() - started) / 1000)} s`],
      ['findings acknowledged', ledger.findings.size],
      ['requests repeated with the same key', repeated],
      ['imports, runs', `${ledger.imports.size}, ${ledger.runs.size}`],
      ['work abandoned after two kills in a row', abandoned],
      ['packages sealed, verified offline', `${ledger.packages.size}, ${verified}`],
      ['tickets pushed, created', `${ledger.tickets.size}, ${outside.ticketsByLabel().size}`],
      ['deliveries, of them repeated', `${deliveries}, ${deliveries - new Set(outside.deliveries.map(({ id }) => id)).size}`],
      ['schema versions applied', ledger.schema],
      ['responses', [...ledger.statuses].map(([status, count]) => `${status}: ${count}`).join(', ')],
      ['recovery after a kill', `p50 ${quantile(recoveries, 0.5)} ms, max ${quantile(recoveries, 1)} ms`],
    ],
    violations,
  };
}

interface Strike {
  service: Service;
  dataDir: string;
  settings: Record<string, string>;
  random: Random;
  upgrading: ReturnType<typeof upgrades>;
}

/** Kills the victim. Returns the service that runs afterwards. */
async function strike(victim: Victim, { service, dataDir, settings, random, upgrading }: Strike): Promise<Service> {
  if (victim === 'migration') kill(upgrading.current);
  if (victim === 'backend') {
    const backends = postgresChildren(dataDir);
    kill(backends[random.number(Math.max(1, backends.length))] ?? null);
  }
  if (victim === 'database') kill(postgresPid(dataDir));
  if (victim !== 'service' && victim !== 'both' && victim !== 'starting service') return service;
  const postgres = postgresPid(dataDir);
  kill(service.pid);
  if (victim === 'both') kill(postgres);
  await service.exit;
  if (victim !== 'starting service') return startService(dataDir, settings);
  let pid: number | null = null;
  const starting = startService(dataDir, settings, (spawned) => {
    pid = spawned;
  }).catch((error: unknown) => {
    if (error instanceof ServiceEnded) return null;
    throw error;
  });
  await Promise.race([starting, delay(random.number(MAX_START_MS))]);
  kill(pid);
  const killed = await starting;
  await killed?.exit;
  return startService(dataDir, settings);
}

const RETRY_SECONDS = 60;

/** A service may be ready before it notices that its database was killed, which then restarts while it is used. */
async function retried(work: () => Promise<void>): Promise<void> {
  let last: unknown;
  const succeeds = (): Promise<boolean> =>
    work().then(
      () => true,
      (error: unknown) => {
        last = error;
        return false;
      },
    );
  await until('the database answers', RETRY_SECONDS, succeeds, POLL_MS).catch(() => {
    throw last;
  });
}

function withAdmin(dataDir: string, work: (admin: pg.Client) => Promise<void>): Promise<void> {
  return retried(async () => {
    const url = readFileSync(join(dataDir, 'postgres.url'), 'utf8').trim();
    const admin = new pg.Client({ connectionString: url.replace('//rrs_login@', '//rrs_admin@'), options: '-c search_path=rrs' });
    admin.on('error', () => {});
    await admin.connect();
    try {
      await work(admin);
    } finally {
      await admin.end();
    }
  });
}

async function isRunning(caller: Caller, run: [string, string] | undefined): Promise<boolean> {
  if (!run) return false;
  const state = await send<{ status: string }>(caller, `/integrations/${run[1]}/runs/${run[0]}`);
  return state === null || state.status === 'queued' || state.status === 'running';
}

async function connect(caller: Caller, outside: { scanner: object; ticketing: object; receiver: string }): Promise<Connections> {
  const create = async (path: string, body: object): Promise<string> => (await send<{ id: string }>(caller, path, { body }))?.id ?? '';
  await create('/webhooks', { url: outside.receiver, event_types: ['finding.created', 'package.ready', 'import.succeeded', 'sync.succeeded'] });
  return { scanner: await create('/integrations', outside.scanner), ticketing: await create('/integrations', outside.ticketing) };
}

/** Verifies every package with the published keys, as an auditor does. */
async function verifyAll(caller: Caller, violations: string[]): Promise<number> {
  const headers = { authorization: `Bearer ${caller.key}` };
  const read = (path: string) => fetch(`${caller.url()}/api/v1/riskops-evidence${path}`, { headers });
  const trust = emptyTrust();
  addKeys(trust, keyFilesIn('keys.json', await (await read('/keys')).text()));
  let verified = 0;
  for (const id of caller.ledger.packages) {
    const { status } = (await (await read(`/packages/${id}`)).json()) as { status: string };
    if (status === 'failed') continue;
    const bytes = new Uint8Array(await (await read(`/packages/${id}/download`)).arrayBuffer());
    const { verdict, failures } = await verifyPackage(bytesSource(bytes), trust, nodePlatform());
    if (verdict === 'verified') verified++;
    else violations.push(`package ${id} is ${verdict}: ${failures.map(({ code }) => code).join(', ')}`);
  }
  return verified;
}
