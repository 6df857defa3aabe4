import type { Evidence } from '@rrs/evidence-format';
import { bytesSource, emptyTrust, verifyPackage } from '@rrs/verifier';
import { nodePlatform } from '@rrs/verifier/node';
import { sealHandler } from '../../evidence/handlers.ts';
import { computeEvidence } from '../../evidence/preview/compute.ts';
import { importHandler } from '../../findings/handlers.ts';
import type { JobContext } from '../../jobs/jobs.ts';
import { createApiKey } from '../../organizations/api-keys/api-keys.ts';
import { systemActor } from '../../shared/actor.ts';
import { sendArtifact } from '../evidence/evidence.ts';
import type { PackageBody, usePackages } from '../evidence/packages.ts';
import { directReader } from '../findings/reader.ts';
import { createTeam, type PersonName, type Team } from './people.ts';
import { cve, daysAgo, grype, type ReportFacts } from './reports.ts';

type World = ReturnType<typeof usePackages>;
export type Stated = Pick<PackageBody, 'conclusion' | 'completeness'>;

const PROTOCOL = 'All steps of the regression test passed on the new build. No errors in the log.';

/** A person of the team, another API key, or a session. */
type Credential = PersonName | { key: string } | { cookie: string };

const headersOf = (by: { key: string } | { cookie: string }): Record<string, string> => ('key' in by ? { authorization: `Bearer ${by.key}` } : by);
const BYTES = { 'content-type': 'application/octet-stream' };

interface Upload {
  by?: Credential;
  format?: 'grype' | 'trivy' | 'generic' | 'openvex';
  scope?: object;
}

export interface ListedFinding {
  id: string;
  cves: string[];
  status: string;
  asset: { id: string; name: string };
}

export type Case = Awaited<ReturnType<typeof startCase>>;

/** One attempt: an organization of its own, and what its people do through the API. */
export async function startCase(world: World) {
  const api = world.api();
  const team: Team = await createTeam(api);
  const context: JobContext = { db: api.db, log: { info: () => {}, error: () => {} }, signal: new AbortController().signal, lastAttempt: true };

  /** Sends a request and returns the answer, whatever its status is. */
  const attempt = (by: Credential, method: string, path: string, body?: unknown) => {
    const headers = { ...headersOf(typeof by === 'string' ? { key: team.keys[by] } : by), ...(body instanceof Uint8Array ? BYTES : {}) };
    return api.call(method, `/api/v1${path}`, { headers, ...(body === undefined ? {} : { body }) });
  };
  const call = async <T = { id: string }>(by: Credential, method: string, path: string, body?: unknown): Promise<T> => {
    const answer = await attempt(by, method, path, body);
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body as T;
  };

  const runImport = async ({ id }: { id: string }): Promise<{ id: string; status: string }> => {
    await importHandler(api.blobs, api.follower, directReader).run({ org_id: team.orgId, import_id: id }, context);
    return call('owner', 'GET', `/imports/${id}`);
  };
  const upload = async (report: string, { by = 'scanner', format = 'grype', scope = {} }: Upload = {}): Promise<{ id: string; status: string }> => {
    const query = new URLSearchParams({ format, scan_scope: JSON.stringify({ coverage: 'complete', ...scope }) });
    return runImport(await call(by, 'POST', `/imports?${query}`, Buffer.from(report)));
  };
  const findings = async (...numbers: number[]): Promise<ListedFinding[]> => {
    const { data } = await call<{ data: ListedFinding[] }>('owner', 'GET', '/findings?limit=200&sort=created_at');
    const wanted = new Set(numbers.map(cve));
    return data.filter(({ cves }) => cves.some((id) => wanted.has(id)));
  };
  const oneFinding = async (number: number): Promise<ListedFinding> => {
    const [found] = await findings(number);
    if (!found) throw new Error(`no finding ${cve(number)}`);
    return found;
  };
  const approve = async (item: string, by: Credential = 'approver') => {
    const { state_digest } = await call<{ state_digest: string }>(by, 'GET', `/work-items/${item}/state`);
    return attempt(by, 'POST', `/work-items/${item}/approvals`, { decision: 'approved', state_digest });
  };

  const seal = async (item: string, formats: string[] = []): Promise<PackageBody> => {
    const { body } = await api.call('POST', '/api/v1/riskops-evidence/packages', {
      as: team.keys.lead,
      body: { work_item_id: item, ...(formats.length > 0 ? { formats } : {}) },
      headers: { prefer: 'wait=0' },
    });
    const { package_id } = body as PackageBody;
    await sealHandler(world.sealing()).run({ org_id: team.orgId, package_id }, context);
    return call('lead', 'GET', `/riskops-evidence/packages/${package_id}`);
  };

  return {
    api,
    keysDir: world.keysDir,
    team,
    attempt,
    call,
    upload,
    runImport,
    findings,
    oneFinding,
    approve,
    /** Creates an API key on the command line. No member stands behind it. */
    async ownerlessKey(): Promise<{ key: string }> {
      const actor = systemActor(team.orgId, 'command line');
      return { key: (await api.db.withTenant(actor, (tx) => createApiKey(tx, actor, { name: 'a key', role: 'admin' }))).token };
    },
    /** A scan by the person who scans. */
    scan: (facts: ReportFacts, options: Upload = {}) => upload(grype(facts), options),
    /** The lead opens a work item about these weaknesses for the worker. */
    async item(...numbers: number[]): Promise<string> {
      const finding_ids = (await findings(...numbers)).map(({ id }) => id);
      if (finding_ids.length === 0) throw new Error('no findings');
      const { id } = await call('lead', 'POST', '/work-items', { title: 'Update the shop', finding_ids, assignee: team.members.worker.email });
      return id;
    },
    async claim(item: string): Promise<void> {
      await call('worker', 'PATCH', `/work-items/${item}`, { status: 'in_progress' });
      await call('worker', 'PATCH', `/work-items/${item}`, { status: 'awaiting_verification', reason: 'rolled out' });
    },
    /** A test protocol by somebody who did not do the work. */
    async artifact(item: string, by: PersonName = 'scanner', content = PROTOCOL): Promise<string> {
      const file = { name: 'protocol.txt', content };
      const parts = { type: 'test_result', title: 'Regression test of the new build', file };
      const { status, body } = await sendArtifact(api.url, item, parts, { authorization: `Bearer ${team.keys[by]}` });
      if (status !== 201) throw new Error(JSON.stringify(body));
      return (body as { id: string }).id;
    },
    preview: (item: string): Promise<Stated> => call('lead', 'POST', '/riskops-evidence/packages', { work_item_id: item, dry_run: true }),
    /** What a package would contain, of which a preview shows the result. */
    evidence: (item: string): Promise<Evidence> =>
      computeEvidence(api.db, { actor: systemActor(team.orgId, 'test'), workItemId: item, publicUrl: api.url, timestamped: false }, async (hashes) =>
        (await Promise.all(hashes.map(async (sha256) => ((await api.blobs.stat(sha256)) === null ? [] : [sha256])))).flat(),
      ),
    seal,
    /** Seals a package, and returns what the verifier finds wrong with it. */
    async refusals(item: string): Promise<string[]> {
      const { package_id, error } = await seal(item, ['json']);
      if (error !== null) return [error];
      const zip = await world.download(package_id, 'zip', team.keys.lead);
      const { failures } = await verifyPackage(bytesSource(zip), emptyTrust(), nodePlatform());
      return failures.map(({ code, detail, expected, actual }) => [code, detail, expected, actual].filter(Boolean).join(' | '));
    },
    download: (package_id: string, format: string): Promise<string> =>
      call('lead', 'GET', `/riskops-evidence/packages/${package_id}/download?format=${format}`),
  };
}

/** Does everything as it should be done, with these weaknesses, and returns the work item before its approval. */
export async function remediate(one: Case, weaknesses: readonly number[] = [1, 10]): Promise<string> {
  await one.scan({ weaknesses, at: daysAgo(3) });
  const item = await one.item(...weaknesses);
  await one.artifact(item);
  await one.claim(item);
  await one.scan({ weaknesses: [], build: 2 });
  return item;
}
