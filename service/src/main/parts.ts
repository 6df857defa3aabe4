import { type Database, openDatabase } from '../db/database.ts';
import { instanceSecret } from '../db/instance-secret.ts';
import { migrate } from '../db/migrate.ts';
import { rebaseEvents } from '../events/rebase.ts';
import { startDeliveryWorker } from '../events/webhooks/delivery-worker.ts';
import { captureHandler, eraseHandler, sealHandler, supersededHandler, sweepHandler } from '../evidence/handlers.ts';
import { openSigners } from '../evidence/keys/keys.ts';
import { endRewoundLogs } from '../evidence/log/open-log.ts';
import type { TimestampAuthorities } from '../evidence/packages/timestamps.ts';
import { openPackageWriter } from '../evidence/packages/writing/write-in-child.ts';
import { idleTracks } from '../findings/endings/end-idle-tracks.ts';
import { importHandler, knowledgeChange } from '../findings/handlers.ts';
import { rankingChange } from '../findings/triage/apply-ranking.ts';
import { acceptanceExpiry, slaChange } from '../findings/triage/expire-acceptances.ts';
import { builtIn } from '../integrations/connections/providers.ts';
import { openKeyRing } from '../integrations/connections/secrets.ts';
import { ticketLimits } from '../integrations/connections/ticketing.ts';
import { dueSyncs, syncHandler } from '../integrations/handlers.ts';
import { syncDefaults } from '../integrations/sync/sync.ts';
import { startWorker } from '../jobs/worker.ts';
import { createGuard } from '../net/addresses.ts';
import { createOutbound } from '../net/request.ts';
import { createKeyUse } from '../organizations/api-keys/key-use.ts';
import { messageOf, OperatorError } from '../shared/errors.ts';
import { pollHandler, ticketHandler, ticketPolls } from '../work-items/handlers.ts';
import { releaseTicketLeases } from '../work-items/tickets/lease.ts';
import { createApi, createOperationsHttp, follower } from './api.ts';
import { bootstrap, type FirstStart } from './bootstrap.ts';
import { buildDigest } from './build-digest.ts';
import type { Config } from './config.ts';
import { openConsole } from './console/open-console.ts';
import { retention } from './growth/retention.ts';
import { housekeeping } from './housekeeping.ts';
import { hostInUrl, listen } from './listen.ts';
import { type Log, version } from './log.ts';
import { createMetrics } from './operations.ts';
import { retryWhileStarting } from './retry.ts';
import { keysDir, openBlobs } from './storage.ts';

/** `start` runs the API and the worker in one process. */
export type Role = 'start' | 'api' | 'worker';

interface Start {
  role: Role;
  config: Config;
  log: Log;
  databaseUrl: string;
  /** Receives the stop function of each started part. They run in reverse order. */
  stops: (() => Promise<unknown>)[];
  /**
   * The clock of this process is moved, as for the history of the demo. The queue would make up for every minute that was skipped, so nothing is scheduled.
   * Child processes have clocks of their own, so packages are written without one. Default: false.
   */
  clockMoved?: boolean;
}

export interface Serving extends FirstStart {
  url: string | null;
}

/** Starts everything that needs the database, in order. */
export async function startParts({ role, config, log, databaseUrl, stops, clockMoved = false }: Start): Promise<Serving> {
  const { applied, known } = await retryWhileStarting(log, () => migrate(databaseUrl));
  if (applied > known) log.warn({ schema_version: applied, known }, 'database has a newer schema that this version can use');
  const db = openDatabase({ url: databaseUrl, poolSize: config.RRS_DATABASE_POOL });
  stops.push(() => db.close());
  await retryWhileStarting(log, () => assertRoles(db));
  if (await retryWhileStarting(log, () => rebaseEvents(db))) log.warn({}, 'database was moved from another server, event positions were rebased');
  const blobs = await openBlobs(config);
  await blobs.check();
  await retryWhileStarting(log, () => openSigners(db, keysDir(config)));
  // Only workers add to the log and keep marks of it.
  for (const { orgId, reason } of role === 'api' ? [] : await retryWhileStarting(log, () => endRewoundLogs(db, keysDir(config), config.RRS_WITNESSES)))
    log.warn({ org_id: orgId, reason }, 'database does not match the marks or witnesses of the transparency log, the next package starts a new epoch');

  const { RRS_OUTBOUND_ALLOW: allowed, RRS_OUTBOUND_CERTIFICATES: certificates, RRS_OUTBOUND_PROXY: proxy } = config;
  const outbound = createOutbound({ guard: createGuard(allowed), certificates: certificates ?? undefined, proxy });
  stops.push(async () => outbound.close());
  const secret = await retryWhileStarting(log, () => instanceSecret(db, 'signing'));

  const metrics = createMetrics(db);
  const address = { url: config.RRS_PUBLIC_URL ?? `http://${hostInUrl(config.HOST)}:${config.PORT}` };
  const publicUrl = (): string => address.url;
  const sealing = {
    blobs,
    publicUrl,
    version,
    // Reads all sources, which the start does not wait for.
    build: role === 'api' ? null : buildDigest().catch(() => null),
    keysDir: keysDir(config),
    authorities: authoritiesOf(config),
    witnesses: config.RRS_WITNESSES,
  };
  if (role !== 'api') {
    const packageWriter = openPackageWriter(databaseUrl);
    stops.push(() => packageWriter.close());
    // Only one service at a time can use the embedded server.
    const alone = config.DATABASE_URL === null;
    const syncing = { ...syncDefaults, providers: builtIn, keys: openKeyRing(keysDir(config)), blobs, follower, sender: outbound };
    const ticketing = { ...syncing, limits: ticketLimits, publicUrl };
    if (alone) await retryWhileStarting(log, () => releaseTicketLeases(db));
    const worker = await startWorker({
      url: databaseUrl,
      db,
      handlers: [
        housekeeping,
        retention,
        importHandler(blobs, follower),
        knowledgeChange(follower),
        syncHandler(syncing),
        dueSyncs,
        ticketHandler(ticketing),
        pollHandler(ticketing),
        ticketPolls,
        acceptanceExpiry(follower),
        slaChange,
        rankingChange(follower),
        idleTracks(follower),
        eraseHandler(blobs),
        sweepHandler(blobs),
        captureHandler({ ...ticketing, blobs }),
        sealHandler(clockMoved ? sealing : { ...sealing, write: packageWriter.write }),
        supersededHandler(sealing),
      ],
      concurrency: config.RRS_WORKER_CONCURRENCY,
      alone,
      schedules: !clockMoved,
      log,
      onFinished: (job, outcome, seconds) => metrics.jobs.observe({ job, outcome }, seconds),
    });
    stops.push(() => worker.stop());
    const onOutcome = (outcome: string, count: number): void => metrics.deliveries.inc({ outcome }, count);
    const deliveryWorker = startDeliveryWorker({ db, secret, outbound, publicUrl, log, onOutcome }, { alone });
    stops.push(() => deliveryWorker.stop());
  }

  const operations = { db, metrics, metricsToken: config.RRS_METRICS_TOKEN, schemaVersion: known, needsWorker: role !== 'api' };
  if (role === 'worker') {
    if (config.RRS_WORKER_PORT === null) return { url: null, firstOwner: null, setup: null };
    const app = await createOperationsHttp(log, publicUrl, operations);
    const { url, close } = await listen(app, config.HOST, config.RRS_WORKER_PORT);
    stops.push(close);
    return { url, firstOwner: null, setup: null };
  }

  // Before the service listens: whoever finds it ready can use the first key.
  const firstStart = await retryWhileStarting(log, () => bootstrap(db, config));
  const keyUse = createKeyUse(db, (error) => log.warn({ error: messageOf(error) }, 'writing the last use of API keys failed'));
  stops.push(() => keyUse.close());
  const web = config.RRS_CONSOLE === 'on' ? openConsole() : null;
  const app = await createApi({ config, db, databaseUrl, log, secret, keyUse, blobs, outbound, publicUrl, operations, console: web?.options ?? null });
  const { url, close } = await listen(app, config.HOST, config.PORT);
  stops.push(close);
  if (web !== null) stops.push(web.buildIfStale(log).stop);
  address.url = config.RRS_PUBLIC_URL ?? url;
  if (config.RRS_METRICS_PORT !== null) {
    const own = await listen(await createOperationsHttp(log, publicUrl, operations), config.HOST, config.RRS_METRICS_PORT);
    stops.push(own.close);
    log.info({ url: `${own.url}/metrics` }, 'metrics have their own port');
  }
  return { url: address.url, ...firstStart };
}

function authoritiesOf({ RRS_TSA_URL: urls, RRS_TSA_CERTIFICATES: certificates }: Config): TimestampAuthorities | null {
  return certificates === null || urls.length === 0 ? null : { urls, certificates };
}

/** Threat: a connection pooler can drop the role of a connection. Without the role, row-level security would not separate tenants. */
async function assertRoles(db: Database): Promise<void> {
  const [row] = await db.systemQuery<{ role: string }>('current_role', 'select current_user as role', []);
  if (row?.role !== 'rrs_system') {
    throw new OperatorError(
      'The database connection does not keep its role. If DATABASE_URL points to a connection pooler, use the address of the server itself.',
    );
  }
}
