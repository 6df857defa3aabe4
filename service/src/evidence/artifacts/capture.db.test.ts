import { createHash } from 'node:crypto';
import { type FakeVendor, type Fault, fakes, serveFake } from '@rrs/connectors/fakes';
import { sql } from 'kysely';
import { describe, expect, it, onTestFinished } from 'vitest';
import { builtIn } from '../../integrations/connections/providers.ts';
import { openKeyRing } from '../../integrations/connections/secrets.ts';
import { ticketLimits } from '../../integrations/connections/ticketing.ts';
import { newId } from '../../shared/ids.ts';
import { EVIDENCE } from '../../testing/evidence/artifacts.ts';
import { usePackages } from '../../testing/evidence/packages.ts';
import { captureHandler } from '../handlers.ts';

const { api, post, get, seal, download, keysDir } = usePackages({ config: { RRS_OUTBOUND_ALLOW: '127.0.0.0/8' } });
const jira = fakes.find(({ id }) => id === 'jira') as FakeVendor;

interface Artifact {
  id: string;
  title: string;
  description: string;
  captured: boolean;
  sha256: string;
  url: string | null;
  supersedes: string | null;
  superseded_by: string | null;
  capture: { url: string; provider: string; connection_id: string; captured_at: string } | null;
  added_by: { type: string; name: string };
}

async function connected(fault?: Fault, as = api().ours.owner) {
  const { origin, requests, close } = await serveFake(jira, { pageSize: 10 }, fault);
  onTestFinished(close);
  const name = newId();
  const { id } = await post<{ id: string }>('/integrations', { provider: 'jira', name, ...jira.settings(origin) }, as);
  return { origin, requests, id, name };
}

async function link(url: string) {
  const { id: item } = await post<{ id: string }>('/work-items', { title: 'with a link' });
  const { id } = await post<Artifact>(`/riskops-evidence/work-items/${item}/artifacts`, {
    type: 'change_ticket',
    title: 'The change',
    description: 'as agreed',
    url,
  });
  return { item, id };
}

async function capture(id: string, lastAttempt = true): Promise<void> {
  const wait = async (): Promise<void> => {};
  const vendors = {
    providers: builtIn,
    keys: openKeyRing(keysDir),
    sender: api().outbound,
    limits: { ...ticketLimits, requestMs: 2_000 },
    wait,
  };
  const context = { db: api().db, log: { info: () => {}, error: () => {} }, signal: new AbortController().signal, lastAttempt };
  await captureHandler({ ...vendors, blobs: api().blobs }).run({ org_id: api().ours.id, artifact_id: id }, context);
}

const artifactsOf = async (item: string) => (await get<{ data: Artifact[] }>(`/riskops-evidence/work-items/${item}/artifacts?sort=added_at`)).data;

describe('a link that a connection can read', () => {
  it('is superseded by a copy of the original that names its source', async () => {
    const { origin, id: connection, name } = await connected();
    const url = `${origin}/browse/SEC-3`;
    const { item, id } = await link(url);
    await capture(id);
    const [before, after] = await artifactsOf(item);
    expect(before).toMatchObject({ id, captured: false, url, superseded_by: after?.id });
    expect(after).toMatchObject({
      title: 'The change',
      description: expect.stringMatching(/^as agreed\n\nJira issue SEC-3 with its history/),
      captured: true,
      url: null,
      supersedes: id,
      capture: { url, provider: 'jira', connection_id: connection, captured_at: expect.any(String) },
      added_by: { type: 'system', name },
    });
    const answer = await fetch(`${api().url}${EVIDENCE}/artifacts/${after?.id}/content`, { headers: { authorization: `Bearer ${api().ours.owner}` } });
    const bytes = Buffer.from(await answer.arrayBuffer());
    expect(createHash('sha256').update(bytes).digest('hex')).toBe(after?.sha256);
    expect(JSON.parse(bytes.toString())).toMatchObject({ key: 'SEC-3', changelog: expect.anything() });
    await capture(id);
    expect(await artifactsOf(item)).toHaveLength(2);
  });

  it('is in the package with a collection record and is not a gap', async () => {
    const { origin } = await connected();
    const url = `${origin}/browse/SEC-4`;
    const { item, id } = await link(url);
    await capture(id);
    const sealed = await seal(item);
    expect(sealed).toMatchObject({ status: 'ready' });
    expect(sealed.completeness.gaps.map(({ code }) => code)).not.toContain('artifact_not_captured');
    const [, original] = await artifactsOf(item);
    const file = `data/artifacts/${original?.id}/content`;
    expect(sealed.files.map(({ path }) => path)).toContain(file);
    const evidence = JSON.parse((await download(sealed.package_id, 'json')).toString()) as { collection: object[] };
    expect(evidence.collection).toContainEqual(
      expect.objectContaining({ file, method: 'connection', source: url, collected_at: original?.capture?.captured_at }),
    );
  });
});

describe('a ticket of the work item', () => {
  it('is in the package as a link, unless the same link was added by hand', async () => {
    const { id: connection, name } = await connected();
    const { id: item } = await post<{ id: string }>('/work-items', { title: 'with a ticket' });
    const [url, theirs] = ['https://jira.example.com/browse/SEC-9', JSON.stringify({ state: 'done', state_name: 'Done' })];
    await api().db.withTenant({ orgId: api().ours.id }, (tx) =>
      sql`insert into tickets (org_id, id, work_item_id, connection_id, status, marker, external_id, external_key, url, theirs, created_by)
        values (${api().ours.id}, ${newId()}, ${item}, ${connection}, 'linked', 'marker', '9', 'SEC-9', ${url}, ${theirs}::jsonb, 'Ada')`.execute(tx),
    );
    const sealed = await seal(item);
    expect(sealed.completeness.gaps.map(({ code }) => code)).toContain('artifact_not_captured');
    const inPackage = async (id: string) => JSON.parse((await download(id, 'json')).toString()).artifacts;
    const ticket = { type: 'change_ticket', title: `SEC-9 in ${name}`, description: 'State at the last synchronization: Done', url, file: null };
    expect(await inPackage(sealed.package_id)).toMatchObject([ticket]);
    await post(`/riskops-evidence/work-items/${item}/artifacts`, { type: 'change_ticket', title: 'The change', url });
    expect(await inPackage((await seal(item)).package_id)).toMatchObject([{ title: 'The change', url }]);
  });
});

describe('a link is not captured', () => {
  it('when no connection recognizes the URL; no request is sent', async () => {
    const { requests } = await connected();
    const { item, id } = await link('https://elsewhere.example/browse/SEC-3');
    await capture(id);
    expect([await artifactsOf(item), requests]).toEqual([[expect.objectContaining({ id, captured: false, superseded_by: null })], []]);
  });

  it('when only a connection of another organization could read it', async () => {
    const { origin, requests } = await connected(undefined, api().theirs.owner);
    const { item, id } = await link(`${origin}/browse/SEC-3`);
    await capture(id);
    expect([(await artifactsOf(item)).length, requests]).toEqual([1, []]);
  });

  it('when it was removed', async () => {
    const { origin, requests } = await connected();
    const { item, id } = await link(`${origin}/browse/SEC-3`);
    await api().call('DELETE', `${EVIDENCE}/artifacts/${id}?reason=wrong%20one`, { as: api().ours.owner });
    await capture(id);
    expect([(await artifactsOf(item)).length, requests]).toEqual([1, []]);
  });

  it('when the vendor returns 404, which the audit trail records', async () => {
    const { origin } = await connected();
    const { item, id } = await link(`${origin}/browse/SEC-999`);
    await capture(id, false);
    expect(await artifactsOf(item)).toHaveLength(1);
    const { data } = await get<{ data: { action: string; after: object }[] }>(`/audit-events?object_id=${id}`);
    expect(data).toContainEqual(
      expect.objectContaining({ action: 'artifact.not_captured', after: expect.objectContaining({ error: expect.stringContaining('404') }) }),
    );
  });

  it('while the vendor is unavailable; the job is retried', async () => {
    const { origin, close } = await serveFake(jira, { pageSize: 10 });
    await close();
    await post('/integrations', { provider: 'jira', name: newId(), ...jira.settings(origin) });
    const { id, item } = await link(`${origin}/browse/SEC-3`);
    await expect(capture(id, false)).rejects.toThrow(/The request to .+ failed/);
    await capture(id, true);
    expect(await artifactsOf(item)).toHaveLength(1);
  });
});
