import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { randomOf } from '../../../service/src/testing/truth/random.ts';
import { type Outcome, quantile } from '../figures.ts';
import { type Service, startService, temporaryDataDir, until } from '../processes.ts';
import { retried, withAdmin } from './admin.ts';
import { countAbandoned, type Facts, halfImports, pending, pendingTickets, violationsIn } from './invariants.ts';
import { emptyLedger, emptyParts } from './ledger.ts';
import { isReady, logAround, stateOf } from './look.ts';
import { startOutside } from './outside.ts';
import { planOf, type Victim, type WorkName, workNames } from './plan.ts';
import { startStopwatch } from './stopwatch.ts';
import { strike } from './strike.ts';
import { upgrades } from './upgrades.ts';
import { verifyPackages } from './verify-packages.ts';
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

const RECOVERY_SECONDS = 300;
const READY_SECONDS = 60;
const POLL_MS = 30;
/** Imports that may not have ended when they are looked at. */
const NEWEST_IMPORTS = 10;
/** With so many kills, faster starts are worth one more start. */
const MANY = 20;
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
  // The compiled program is kept when a service stops, and those that are killed do not stop.
  if (kills >= MANY) await (await startService(dataDir, settings)).stop();
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
  const watch = startStopwatch();
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
    repeated += await watch.time('repeated requests', () => repeatUnanswered(caller));
    await withAdmin(dataDir, async (admin) => {
      const facts: Facts = { admin, dataDir, ledger, outside, upgrading };
      const hasEnded = async (): Promise<boolean> => {
        for (const half of await halfImports(facts, NEWEST_IMPORTS)) violations.push(half);
        const left = await pending(facts);
        if (left.length > 0) last = left;
        return left.length === 0;
      };
      const ended = watch.time('work ends', () => until('all work has ended', recoverySeconds, hasEnded, POLL_MS));
      await ended.catch(async () => violations.push(`not ended after ${recoverySeconds} s: ${(await pending(facts)).join(', ')}`));
      violations.push(...(await watch.time('invariants', () => violationsIn(facts))));
      abandoned = await countAbandoned(facts);
    });
    recoveries.push(Date.now() - began);
  };

  const settled = async (): Promise<void> => {
    const ready = watch.time('ready', () => until('the service is ready', READY_SECONDS, () => isReady(service.url)));
    const isLate = await ready.then(
      () => false,
      () => true,
    );
    if (isLate) return void violations.push(`not ready after ${READY_SECONDS} s: ${await stateOf(service, dataDir)}`);
    await watch.time('upgrades', () => retried(() => upgrading.finish()));
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
      const work = await watch.time('begin', () => startRound(names));
      const stopReading = startReading(caller);
      await watch.time('wait', () => delay(waitMs));
      const victim = chosen === 'migration' && upgrading.current === null ? 'backend' : chosen;
      const before = service;
      service = await watch.time('kill and start', () => strike(victim, { service: before, dataDir, settings, random: randomOf(seed + done), upgrading }));
      await watch.time('responses', () => Promise.all([stopReading(), ...work.map((one) => one.done)]));
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
      verified = await verifyPackages(caller, violations);
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
      ['time for each kill', watch.textPer(done)],
      ['recovery after a kill', `p50 ${quantile(recoveries, 0.5)} ms, max ${quantile(recoveries, 1)} ms`],
    ],
    violations,
  };
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
