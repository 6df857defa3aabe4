import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PACKAGE_FORMATS } from '@rrs/evidence-format';
import { bytesSource, emptyTrust, verifyPackage } from '@rrs/verifier';
import { nodePlatform } from '@rrs/verifier/node';
import { afterAll, beforeAll, onTestFinished } from 'vitest';
import { eraseHandler, sealHandler, supersededHandler } from '../../evidence/handlers.ts';
import { openSigners } from '../../evidence/keys/keys.ts';
import type { Witness } from '../../evidence/log/witnesses.ts';
import type { Sealing, SealingStep } from '../../evidence/packages/seal.ts';
import type { TimestampAuthorities } from '../../evidence/packages/timestamps.ts';
import { openPackageWriter } from '../../evidence/packages/writing/write-in-child.ts';
import { importHandler } from '../../findings/handlers.ts';
import { startWorker, type Worker, type WorkerOptions } from '../../jobs/worker.ts';
import { directReader } from '../findings/reader.ts';
import { type StartApiOptions, startApi, type TestApi } from '../http/api.ts';

export interface PackageBody {
  package_id: string;
  sequence: number;
  status: string;
  error: string | null;
  conclusion: string;
  completeness: { grade: string; gaps: { code: string; weight: string; about: string[] }[] };
  hashes: Record<string, string>;
  log: { index: number; tree_size: number; root_hash: string };
  files: { path: string; size: number; sha256: string }[];
  downloads: { format: string; url: string; size: number; sha256: string; media_type: string }[];
  superseded: { at: string; by: string | null; reason: string } | null;
}

export interface PackagesOptions extends StartApiOptions {
  authorities?: () => Promise<TimestampAuthorities | null>;
  witnesses?: () => readonly Witness[];
  /** Starts no worker. The test can start one. */
  idle?: boolean;
  /** Writes packages in a child process, as the service does. */
  inChildren?: boolean;
  /** Every package that `seal` returns is downloaded, and the verifier must find nothing wrong with it. */
  verifies?: boolean;
}

/** Most tests are about something other than the formats, and drawing the PDF takes longer than the rest of a small package. */
const smallest = { formats: ['json'] };
export const allFormats = { formats: PACKAGE_FORMATS };

/** The API with a worker that imports and seals. */
export function usePackages(options: PackagesOptions = {}) {
  const keysDir = join(mkdtempSync(join(tmpdir(), 'rrs-packages-')), 'keys');
  const made: { api?: TestApi; worker?: Worker; authorities?: TimestampAuthorities | null; writer?: ReturnType<typeof openPackageWriter> } = {};
  const api = (): TestApi => made.api as TestApi;
  const sealing = (): Omit<Sealing, 'db'> => ({
    blobs: api().blobs,
    keysDir,
    publicUrl: () => api().url,
    version: '0.0.0',
    build: null,
    authorities: made.authorities ?? null,
    witnesses: options.witnesses?.() ?? [],
    ...(made.writer ? { write: made.writer.write } : {}),
  });
  const work = (more: Partial<WorkerOptions> = {}): Promise<Worker> => {
    const { db, blobs, databaseUrl, follower } = api();
    const handlers = [importHandler(blobs, follower, directReader), eraseHandler(blobs), sealHandler(sealing()), supersededHandler(sealing())];
    return startWorker({ url: databaseUrl, db, handlers, concurrency: 4, log: { info: () => {}, error: () => {} }, ...more });
  };
  beforeAll(async () => {
    const authorities = (await options.authorities?.()) ?? null;
    const settings = {
      RRS_KEYS_DIR: keysDir,
      ...options.config,
      ...(authorities ? { RRS_TSA_URL: authorities.urls.join(','), RRS_TSA_CERTIFICATES: authorities.certificates } : {}),
    };
    made.api = await startApi({ ...options, config: settings });
    made.authorities = authorities;
    await openSigners(made.api.db, keysDir);
    if (options.inChildren) made.writer = openPackageWriter(made.api.databaseUrl);
    if (!options.idle) made.worker = await work();
  });
  afterAll(async () => {
    await made.worker?.stop();
    await made.writer?.close();
    await made.api?.close();
    rmSync(join(keysDir, '..'), { recursive: true, force: true });
  });

  const post = async <T>(path: string, body: unknown, as = api().ours.owner, headers: Record<string, string> = {}) =>
    (await api().call('POST', `/api/v1${path}`, { as, body, headers })).body as T;
  const get = async <T>(path: string, as = api().ours.owner) => (await api().call('GET', `/api/v1${path}`, { as })).body as T;
  const download = async (id: string, format = 'zip', as = api().ours.owner): Promise<Buffer> => {
    const answer = await fetch(`${api().url}/api/v1/riskops-evidence/packages/${id}/download?format=${format}`, { headers: { authorization: `Bearer ${as}` } });
    if (answer.status !== 200) throw new Error(await answer.text());
    return Buffer.from(await answer.arrayBuffer());
  };
  /** Runs the job once, without the queue. */
  const attempt = (id: string, { lastAttempt = false, ...more }: Partial<Sealing> & { lastAttempt?: boolean } = {}): Promise<void> => {
    const { db, ours } = api();
    const context = { db, log: { info: () => {}, error: () => {} }, signal: new AbortController().signal, lastAttempt };
    return sealHandler({ ...sealing(), ...more }).run({ org_id: ours.id, package_id: id }, context);
  };
  return {
    api,
    keysDir,
    sealing,
    work,
    attempt,
    /** Starts an attempt that waits before this step. */
    async suspend(id: string, step: SealingStep): Promise<{ resume(): Promise<void> }> {
      const [asleep, awake] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      onTestFinished(() => awake.resolve());
      const run = attempt(id, {
        onStep: async (now) => {
          if (now !== step) return;
          asleep.resolve();
          await awake.promise;
        },
      });
      await Promise.race([asleep.promise, run]);
      return {
        resume: () => {
          awake.resolve();
          return run;
        },
      };
    },
    post,
    get,
    /** Imports a complete scan of `image` that reports these components. */
    scan: (image: string, components: readonly string[], { as = api().ours.owner, coverage = 'complete' } = {}) => {
      const query = new URLSearchParams({
        format: 'generic',
        scan_scope: JSON.stringify({ coverage, asset: { type: 'container_image', name: image }, track: 'prod' }),
      });
      const lines = components.map((component) => ({
        title: `A weakness of ${component}`,
        severity: 'high',
        cves: ['CVE-2026-0001'],
        component,
        version: '1.0',
      }));
      const body = { scan: { asset: { type: 'container_image', name: image } }, findings: lines };
      return post<{ id: string; status: string; counts: Record<string, number> }>(`/imports?${query}`, body, as, {
        'content-type': 'application/octet-stream',
        prefer: 'wait=60',
      });
    },
    workItem: (title: string, filter: object, as = api().ours.owner) => post<{ id: string }>('/work-items', { title, filter }, as),
    /** Decides on the current state of a work item. */
    async decide(id: string, as: string, decision: 'approved' | 'rejected' = 'approved') {
      const { state_digest } = await get<{ state_digest: string }>(`/work-items/${id}/state`, as);
      return post(`/work-items/${id}/approvals`, { decision, state_digest, comment: 'I looked at it' }, as);
    },
    /** Requests a package without waiting for it. */
    request: (workItemId: string, more: object = {}) =>
      post<PackageBody>('/riskops-evidence/packages', { ...smallest, work_item_id: workItemId, ...more }, undefined, { prefer: 'wait=0' }),
    async seal(workItemId: string, more: object = {}, as = api().ours.owner): Promise<PackageBody> {
      const sealed = await post<PackageBody>('/riskops-evidence/packages', { ...smallest, work_item_id: workItemId, ...more }, as, { prefer: 'wait=60' });
      if (sealed.status !== 'ready' || !options.verifies) return sealed;
      const { failures } = await verifyPackage(bytesSource(await download(sealed.package_id, 'zip', as)), emptyTrust(), nodePlatform());
      if (failures.length > 0) throw new Error(`the verifier refuses the package: ${JSON.stringify(failures)}`);
      return sealed;
    },
    download,
  };
}
