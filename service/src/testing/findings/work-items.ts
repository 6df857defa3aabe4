import { sql } from 'kysely';
import { importHandler } from '../../findings/handlers.ts';
import { acceptanceExpiry } from '../../findings/triage/expire-acceptances.ts';
import type { JobContext } from '../../jobs/jobs.ts';
import type { ApiAnswer, TestApi } from '../http/api.ts';
import { directReader } from './reader.ts';

export interface Item {
  id: string;
  title: string;
  status: string;
  status_reason: string | null;
  assignee: string | null;
  assignee_member_id: string | null;
  assignee_name: string | null;
  findings: { total: number; open: number; in_progress: number; remediated: number; verified: number; excepted: number; aside: number };
  follows: string | null;
  followed_by: string | null;
  closed_at: string | null;
  version: number;
}

export interface Finding {
  id: string;
  status: string;
  status_reason: string | null;
  version: number;
  work_items: { id: string; status: string }[];
}

interface Listed<T> {
  data: T[];
  page: { next_cursor: string | null };
}

/** Work items and their findings over HTTP. */
export function workItemsOf(api: TestApi, as = api.ours.owner) {
  const call = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<ApiAnswer> =>
    api.call(method, `/api/v1${path}`, { as, headers, ...(body === undefined ? {} : { body }) });
  const expectDone = async <T>(answer: Promise<ApiAnswer>): Promise<T> => {
    const { status, body } = await answer;
    if (status >= 300) throw new Error(`${status} ${JSON.stringify(body)}`);
    return body as T;
  };
  let made = 0;
  const finding = async (given: object = {}): Promise<string> => {
    made++;
    const body = { title: `weak ${made}`, severity: 'high', asset: { type: 'host', name: 'one.example' }, ...given };
    return (await expectDone<Finding>(call('POST', '/findings', body))).id;
  };
  const patchFinding = (id: string, body: object) => expectDone<Finding>(call('PATCH', `/findings/${id}`, body));
  return {
    call,
    finding,
    findings: async (count: number, given: object = {}): Promise<string[]> => {
      const ids: string[] = [];
      for (let n = 0; n < count; n++) ids.push(await finding(given));
      return ids;
    },
    readFinding: (id: string) => expectDone<Finding>(call('GET', `/findings/${id}`)),
    patchFinding,
    falsePositive: (id: string) => patchFinding(id, { status: 'false_positive', justification: 'inaccurate_finding' }),
    item: (finding_ids: string[], given: object = {}) =>
      expectDone<Item>(call('POST', '/work-items', { title: 'work', ...(finding_ids.length > 0 ? { finding_ids } : {}), ...given })),
    read: (id: string) => expectDone<Item>(call('GET', `/work-items/${id}`)),
    /** Decides on the current state of a work item. */
    decide: async (id: string, body: object = { decision: 'approved' }): Promise<ApiAnswer> => {
      const { state_digest } = await expectDone<{ state_digest: string }>(call('GET', `/work-items/${id}/state`));
      return call('POST', `/work-items/${id}/approvals`, { state_digest, ...body });
    },
    patch: (id: string, body: object, headers: Record<string, string> = {}) => call('PATCH', `/work-items/${id}`, body, headers),
    list: <T = Item>(path: string) => expectDone<Listed<T>>(call('GET', path)),
    /** Imports a Trivy report on one image with the worker's job. */
    async scan(image: string, cves: readonly number[], coverage: 'complete' | 'partial' = 'complete'): Promise<void> {
      const vulnerabilities = cves.map((n) => ({
        VulnerabilityID: `CVE-2024-${String(n).padStart(5, '0')}`,
        PkgName: `lib-${n}`,
        InstalledVersion: '3.0.0',
        Severity: 'HIGH',
        Title: 'A weakness',
      }));
      const report = {
        SchemaVersion: 2,
        ArtifactName: image,
        ArtifactType: 'container_image',
        Results: [{ Target: image, Class: 'os-pkgs', Type: 'debian', Vulnerabilities: vulnerabilities }],
      };
      const scope = { coverage, asset: { type: 'container_image', name: image }, track: 'prod' };
      const { id, org_id } = await queue(api, as, report, scope);
      await importHandler(api.blobs, api.follower, directReader).run({ org_id, import_id: id }, contextOf(api));
      const done = await expectDone<{ status: string; error: string | null }>(call('GET', `/imports/${id}`));
      if (done.status !== 'succeeded') throw new Error(`the import ${done.status}: ${done.error}`);
    },
    ofImage: async (image: string): Promise<string[]> =>
      (await expectDone<Listed<{ id: string }>>(call('GET', `/findings?asset=${encodeURIComponent(image)}&limit=200&sort=created_at`))).data.map(
        ({ id }) => id,
      ),
  };
}

async function queue(api: TestApi, as: string, report: object, scope: object): Promise<{ id: string; org_id: string }> {
  const query = new URLSearchParams({ format: 'trivy', scan_scope: JSON.stringify(scope) });
  const answer = await api.call('POST', `/api/v1/imports?${query}`, {
    as,
    body: JSON.stringify(report),
    headers: { 'content-type': 'application/octet-stream' },
  });
  const { id } = answer.body as { id: string };
  const { rows } = await api.db.withSystem((tx) => sql<{ org_id: string }>`select org_id from imports where id = ${id}`.execute(tx));
  return { id, org_id: rows[0]?.org_id ?? '' };
}

/** Runs the job that expires risk acceptances. */
export async function endAcceptances(api: TestApi): Promise<void> {
  await acceptanceExpiry(api.follower).run({}, contextOf(api));
}

function contextOf({ db }: TestApi): JobContext {
  return { db, log: { info: () => {}, error: () => {} }, signal: new AbortController().signal, lastAttempt: true };
}

/** Copies a finding many times, directly in the database. */
export async function copiesOf(api: TestApi, finding: string, count: number, orgId = api.ours.id): Promise<void> {
  await api.db.withTenant({ orgId }, async (tx) => {
    const copy = sql`jsonb_build_object('id', new_id(), 'identity_key', '\\x' || lpad(to_hex(n), 32, '0'))`;
    await sql`
      insert into findings select copied.* from findings f, generate_series(1, ${count}::integer) n, jsonb_populate_record(f, ${copy}) copied
      where f.id = ${finding}`.execute(tx);
  });
}

/** Work items whose status or counts do not match their findings. Must be empty. */
export async function stray(api: TestApi): Promise<unknown[]> {
  const { rows } = await api.db.withSystem((tx) =>
    sql`
      select w.id, w.status, counted.* from work_items w cross join lateral (
        select count(*) filter (where f.status = 'open')::int as open, count(*) filter (where f.status = 'in_progress')::int as in_progress,
          count(*) filter (where f.status = 'remediated' or (f.status = 'verified' and f.assurance in ('declared', 'artifact')))::int as remediated,
          count(*) filter (where f.status = 'verified' and f.assurance not in ('declared', 'artifact'))::int as verified,
          count(*) filter (where f.status in ('risk_accepted', 'false_positive') or (f.status = 'withdrawn' and f.reason_code not in ('source_retracted', 'check_retired')))::int as excepted,
          count(*) filter (where f.status = 'withdrawn' and f.reason_code in ('source_retracted', 'check_retired'))::int as aside, count(f.id)::int as total
        from work_item_findings l join findings f on f.org_id = l.org_id and f.id = l.finding_id
        where l.org_id = w.org_id and l.work_item_id = w.id and l.unlinked_at is null
      ) counted
      where w.closed_at is null and (
        (w.findings_open, w.findings_in_progress, w.findings_remediated, w.findings_verified, w.findings_excepted, w.findings_aside)
          <> (counted.open, counted.in_progress, counted.remediated, counted.verified, counted.excepted, counted.aside)
        or (counted.total > 0 and counted.open + counted.in_progress + counted.remediated = 0)
        or (w.status = 'awaiting_verification' and counted.open + counted.in_progress > 0)
        or (w.status in ('open', 'in_progress') and counted.remediated > 0 and counted.open + counted.in_progress = 0))`.execute(tx),
  );
  return rows;
}
