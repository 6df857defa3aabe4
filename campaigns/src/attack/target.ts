import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { openFileStore } from '../../../service/src/blobs/file-store.ts';
import { openDatabase } from '../../../service/src/db/database.ts';
import { call, type TestOrganization } from '../../../service/src/testing/http/api.ts';
import { walkConfig, walkOf } from '../../../service/src/testing/http/walk.ts';
import { quantile } from '../figures.ts';
import { createOrganizations, type Organization } from '../organizations.ts';
import { type Service, startService, temporaryDataDir } from '../processes.ts';

export type Target = Awaited<ReturnType<typeof startTarget>>;

/** Longer than this, nobody else is served: something blocks the process. */
const SLOW_MS = 5_000;
const PROBE_MS = 50;

/** A service in its own process, with two organizations that know nothing of each other, and with the means to create resources in both. */
export async function startTarget(used?: string) {
  const { dataDir, remove } = temporaryDataDir(used);
  const service = await startService(dataDir, { ...walkConfig, LOG_LEVEL: 'error' });
  const databaseUrl = readFileSync(join(dataDir, 'postgres.url'), 'utf8').trim();
  const db = openDatabase({ url: databaseUrl, poolSize: 3 });
  const [ours, theirs] = (await createOrganizations(dataDir, ['ours', 'theirs'])).map(organizationOf) as [TestOrganization, TestOrganization];
  const api = {
    call: (method: string, path: string, options: Parameters<typeof call>[3] = {}) => call(service.url, method, path, options),
    db,
    blobs: openFileStore(join(dataDir, 'blobs')),
    url: service.url,
    ours,
    theirs,
  };
  const probe = watchHealth(service);
  /** On a busy machine, this process waits for the processor, too. */
  const slowMs = (): number => SLOW_MS + 3 * probe.late();
  return {
    api,
    service,
    databaseUrl,
    walk: await walkOf(api),
    slowMs,
    /** The delays of other callers since the last call. Something that ended or blocked the service is a violation. */
    healthOf(what: string): { figure: string; violations: string[] } {
      const delays = probe.drain();
      const worst = quantile(delays, 1);
      const violations = [
        ...(service.ended() ? [`${what}: the service ended: ${service.log().slice(-2_000)}`] : []),
        ...(worst > slowMs() ? [`${what}: another caller waited ${(worst / 1000).toFixed(1)} s`] : []),
      ];
      const late = `this process was late by ${probe.late().toFixed(0)} ms at most`;
      return { figure: `p50 ${quantile(delays, 0.5).toFixed(0)}, p99 ${quantile(delays, 0.99).toFixed(0)}, max ${worst.toFixed(0)} ms; ${late}`, violations };
    },
    async close() {
      probe.stop();
      await db.close();
      await service.stop();
      remove();
    },
  };
}

function organizationOf({ id, slug, keys }: Organization): TestOrganization {
  return { id, slug, owner: keys.owner, key: async (role) => keys[role] };
}

function watchHealth({ url }: Service) {
  let delays: number[] = [];
  let isStopped = false;
  let late = 0;
  const watch = async (): Promise<void> => {
    while (!isStopped) {
      const started = performance.now();
      await fetch(`${url}/healthz`)
        .then((response) => response.arrayBuffer())
        .catch(() => null);
      delays.push(performance.now() - started);
      const resumed = performance.now();
      await delay(PROBE_MS);
      late = Math.max(late, performance.now() - resumed - PROBE_MS);
    }
  };
  void watch();
  return {
    late: () => late,
    drain(): number[] {
      const drained = delays;
      delays = [];
      return drained;
    },
    stop(): void {
      isStopped = true;
    },
  };
}

/** Works on all items, `width` of them at a time. */
export async function inParallel<T>(items: Iterable<T>, width: number, work: (item: T) => Promise<void>): Promise<void> {
  const left = items[Symbol.iterator]();
  const take = async (): Promise<void> => {
    for (let next = left.next(); !next.done; next = left.next()) await work(next.value);
  };
  await Promise.all(Array.from({ length: width }, take));
}

export interface Size {
  count: number;
  seed: number;
  minutes: number;
}

/** The items, up to the time when so many minutes have passed. */
export function* within<T>(minutes: number, items: Iterable<T>): Generator<T> {
  const end = Date.now() + minutes * 60_000;
  for (const item of items) {
    if (Date.now() >= end) return;
    yield item;
  }
}
