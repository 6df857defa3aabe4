import { hash, timingSafeEqual } from 'node:crypto';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Database } from '../db/database.ts';
import { SCHEMA_VERSION } from '../db/migrate.ts';
import { DELIVERIES_WAITING } from '../events/webhooks/deliveries.ts';
import type { App } from '../http/app.ts';
import { JOBS_WAITING, WORKER_ALIVE } from '../jobs/worker.ts';
import { AppError } from '../shared/errors.ts';

/** Health, readiness and metrics for operators, outside of /api/v1. */
export interface Metrics {
  registry: Registry;
  jobs: Histogram<'job' | 'outcome'>;
  deliveries: Counter<'outcome'>;
}

export function createMetrics(db: Database): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  new Gauge({
    name: 'rrs_database_connections',
    help: 'Database connections by pool and state',
    labelNames: ['pool', 'state'],
    registers: [registry],
    collect() {
      for (const [pool, { total, idle, waiting }] of Object.entries(db.stats())) {
        this.set({ pool, state: 'total' }, total);
        this.set({ pool, state: 'idle' }, idle);
        this.set({ pool, state: 'waiting' }, waiting);
      }
    },
  });
  new Gauge({
    name: 'rrs_jobs_waiting',
    help: 'Jobs in the queue by state',
    labelNames: ['state'],
    registers: [registry],
    async collect() {
      this.reset();
      // A database that is down must not take the other series with it.
      const rows = await db
        .systemQuery<{ ready: number; later: number; running: number; given_up: number }>('jobs_waiting', JOBS_WAITING, [], 'metrics')
        .catch(() => []);
      for (const [state, count] of Object.entries(rows[0] ?? {})) this.set({ state }, count);
    },
  });
  const jobs = new Histogram({
    name: 'rrs_job_duration_seconds',
    help: 'Duration of finished jobs by job and outcome',
    labelNames: ['job', 'outcome'],
    buckets: [0.01, 0.1, 1, 10, 60, 600],
    registers: [registry],
  });
  new Gauge({
    name: 'rrs_webhook_deliveries_waiting',
    help: 'Pending webhook deliveries of all processes: due now (ready) or at a later attempt (later)',
    labelNames: ['state'],
    registers: [registry],
    async collect() {
      this.reset();
      const rows = await db.systemQuery<{ ready: number; later: number }>('deliveries_waiting', DELIVERIES_WAITING, [], 'metrics').catch(() => []);
      for (const [state, count] of Object.entries(rows[0] ?? {})) this.set({ state }, count);
    },
  });
  const deliveries = new Counter({
    name: 'rrs_webhook_deliveries_total',
    help: 'Webhook deliveries of this process by outcome: delivered, failed (an attempt that will be retried), given_up',
    labelNames: ['outcome'],
    registers: [registry],
  });
  // Series that exist from the start can be used in alerts before the first failure.
  for (const outcome of ['delivered', 'failed', 'given_up']) deliveries.inc({ outcome }, 0);
  return { registry, jobs, deliveries };
}

interface Readiness {
  database: 'ok' | 'unreachable';
  /** `incompatible` if a newer program has changed the schema so that this one cannot use it. */
  migrations: 'ok' | 'pending' | 'incompatible' | 'unknown';
  worker: 'ok' | 'missing' | 'unknown';
}

export interface OperationsOptions {
  db: Database;
  metrics: Metrics;
  /** The newest migration that this version contains. */
  schemaVersion: number;
  /** Bearer token that /metrics requires. */
  metricsToken?: string | null;
  /** Whether this process is ready only with a live worker. True in a process that runs the worker. */
  needsWorker: boolean;
}

async function readiness({ db, schemaVersion }: OperationsOptions): Promise<Readiness> {
  try {
    const [[schema], [worker]] = await Promise.all([
      db.systemQuery<{ version: number; min_compatible_version: number }>('schema_version', SCHEMA_VERSION, [], 'readiness'),
      db.systemQuery<{ alive: boolean }>('worker_alive', WORKER_ALIVE, [], 'readiness'),
    ]);
    const isPending = !schema || schema.version < schemaVersion;
    const migrations = isPending ? 'pending' : schema.min_compatible_version > schemaVersion ? 'incompatible' : 'ok';
    return { database: 'ok', migrations, worker: worker?.alive ? 'ok' : 'missing' };
  } catch {
    return { database: 'unreachable', migrations: 'unknown', worker: 'unknown' };
  }
}

/** Measures the requests to the API. */
export function observeRequests(app: App, { metrics }: OperationsOptions): void {
  const requests = new Histogram({
    name: 'rrs_http_request_duration_seconds',
    help: 'Duration of HTTP requests by method, route and status',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 30],
    registers: [metrics.registry],
  });
  app.addHook('onResponse', (request, reply, done) => {
    requests.observe({ method: request.method, route: request.routeOptions.url ?? 'none', status: reply.statusCode }, reply.elapsedTime / 1000);
    done();
  });
}

const hidden = { config: { access: 'public' }, schema: { hide: true }, logLevel: 'silent' } as const;

export function installHealth(app: App, options: OperationsOptions): void {
  app.get('/healthz', hidden, async (_request, reply) => reply.send({ status: 'ok' }));

  app.get('/readyz', hidden, async (_request, reply) => {
    const checks = await readiness(options);
    const serving = checks.database === 'ok' && checks.migrations === 'ok';
    const ready = serving && (!options.needsWorker || checks.worker === 'ok');
    if (!ready) reply.code(503).header('retry-after', '2');
    return reply.send({ status: !ready ? 'unavailable' : checks.worker === 'ok' ? 'ok' : 'degraded', checks });
  });
}

export function installMetrics(app: App, { metrics, metricsToken = null }: OperationsOptions): void {
  app.get('/metrics', hidden, async (request, reply) => {
    assertMetricsToken(request.headers.authorization, metricsToken);
    return reply.type(metrics.registry.contentType).send(await metrics.registry.metrics());
  });
}

function assertMetricsToken(authorization: string | undefined, token: string | null): void {
  if (token === null) return;
  const given = /^bearer +(\S+)$/i.exec(authorization ?? '')?.[1] ?? '';
  const digest = (text: string): Buffer => hash('sha256', text, 'buffer');
  if (timingSafeEqual(digest(given), digest(token))) return;
  throw new AppError('unauthenticated', 'Send "Authorization: Bearer <the value of RRS_METRICS_TOKEN>".', {
    headers: { 'www-authenticate': 'Bearer realm="metrics"' },
  });
}
