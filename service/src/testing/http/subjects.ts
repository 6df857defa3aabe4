import { Readable } from 'node:stream';
import { newId } from '../../shared/ids.ts';
import { addLogEntry, sendArtifact } from '../evidence/evidence.ts';
import { sharePackage, storePackage } from '../evidence/stored-package.ts';
import type { TestApi, TestOrganization } from './api.ts';
import type { DescribedRoute } from './routes.ts';

/** Values of the path parameters of a route, in their order. */
export type PathValues = readonly string[];

/** What creating resources needs of an API. It may run in another process. */
export type SubjectApi = Pick<TestApi, 'call' | 'db' | 'blobs' | 'url' | 'theirs'>;

type Create = (organization: TestOrganization) => Promise<PathValues>;

/**
 * Creates the resources that path parameters refer to, by the path up to its last parameter: `/api/v1/members/{id}` also serves the
 * routes below it. A route that needs a resource in a particular state has an entry under its operationId instead.
 */
export function subjectsOf(api: SubjectApi): Readonly<Record<string, Create>> {
  const create = async ({ owner }: TestOrganization, path: string, body?: object): Promise<string> => {
    const response = await api.call('POST', path, { as: owner, ...(body ? { body } : {}) });
    return (response.body as { id: string }).id;
  };
  const { withSystem } = api.db;

  const finding = (organization: TestOrganization): Promise<string> =>
    create(organization, '/api/v1/findings', { title: 'subject', severity: 'high', asset: { type: 'host', name: `of ${organization.slug}` } });

  const asset = (organization: TestOrganization): Promise<string> =>
    create(organization, '/api/v1/assets', { type: 'host', name: `${newId()} of ${organization.slug}` });

  /** A finding with a pending request to accept its risk, by somebody else. */
  const requestedAcceptance = async (organization: TestOrganization): Promise<string> => {
    const finding_id = await finding(organization);
    const decision = { kind: 'acceptance', state: 'requested', person: 'somebody', person_name: 'Somebody', reason: 'subject', owner: 'Somebody' } as const;
    const expires_at = new Date(Date.now() + 86_400_000);
    await withSystem((tx) =>
      tx
        .insertInto('decisions')
        .values({ org_id: organization.id, finding_id, id: newId(), ...decision, expires_at, severity: 4, kev: false })
        .execute(),
    );
    return finding_id;
  };

  const workItem = (organization: TestOrganization, finding_ids?: string[]): Promise<string> =>
    create(organization, '/api/v1/work-items', { title: `of ${organization.slug}`, ...(finding_ids ? { finding_ids } : {}) });

  const evidencePackage = async (organization: TestOrganization): Promise<string> =>
    storePackage(api, { orgId: organization.id, workItemId: await workItem(organization) });

  /** Deletes the others first, because an organization can have only a few. */
  const webhook = async (organization: TestOrganization): Promise<string> => {
    await withSystem((tx) => tx.deleteFrom('webhooks').where('org_id', '=', organization.id).execute());
    return create(organization, '/api/v1/webhooks', { url: 'http://127.0.0.1:1/', event_types: ['*'], description: `of ${organization.slug}` });
  };

  const scanner = (organization: TestOrganization): Promise<string> => {
    const settings = { config: { api_url: 'http://127.0.0.1:1/rest', organization_id: 'x' }, credentials: { token: 'token-of-a-test' } };
    return create(organization, '/api/v1/integrations', { provider: 'snyk', name: newId(), schedule: null, ...settings });
  };

  const source = async ({ id: org_id, slug }: TestOrganization, retired_at: Date | null): Promise<string> => {
    const id = newId();
    const row = { org_id, id, kind: 'import', provider: 'trivy', name: `${id} of ${slug}`, retired_at } as const;
    await withSystem((tx) => tx.insertInto('sources').values(row).execute());
    return id;
  };

  const alias = async ({ id: org_id, slug }: TestOrganization, revoked_at: Date | null): Promise<string> => {
    const id = `TEST-${newId()}`.toUpperCase();
    const row = { org_id, alias: id, weakness: `of ${slug}`, origin: 'sources', revoked_at, revoked_by: revoked_at && 'test' } as const;
    await withSystem((tx) => tx.insertInto('vulnerability_aliases').values(row).execute());
    return id;
  };

  /** An import that waits for confirmation, so that it can be confirmed and discarded. */
  const pendingImport = async ({ id: org_id }: TestOrganization): Promise<string> => {
    const [id, source_id] = [newId(), newId()];
    const actor = JSON.stringify({ type: 'system', id: null, name: 'test' });
    const { sha256, size } = await api.blobs.put(Readable.from([Buffer.from(id)]));
    await withSystem(async (tx) => {
      await tx.insertInto('sources').values({ org_id, id: source_id, kind: 'import', provider: 'trivy', name: source_id }).execute();
      const row = { org_id, id, source_id, sha256, bytes: String(size), created_by: 'test', actor, status: 'needs_confirmation' } as const;
      await tx.insertInto('imports').values(row).execute();
    });
    return id;
  };

  const run = async (organization: TestOrganization, status: 'queued' | 'needs_confirmation'): Promise<PathValues> => {
    const [connection_id, id] = [await scanner(organization), newId()];
    const finished = status === 'needs_confirmation' ? { import_id: await pendingImport(organization), finished_at: new Date() } : {};
    const row = {
      org_id: organization.id,
      id,
      connection_id,
      trigger: 'manual',
      mode: 'full',
      status,
      requested_by: 'test',
      actor: '{}',
      ...finished,
    } as const;
    await withSystem((tx) => tx.insertInto('sync_runs').values(row).execute());
    return [connection_id, id];
  };

  /** A ticket that failed, so that it is on the list of drifted tickets. */
  const ticket = async (organization: TestOrganization): Promise<PathValues> => {
    const [connection_id, work_item_id, id] = [await ticketing(api, organization), await workItem(organization), newId()];
    const failed = { status: 'failed', error_kind: 'unavailable', error: `of ${organization.slug}` } as const;
    const row = { org_id: organization.id, id, work_item_id, connection_id, marker: 'rrs-0', created_by: 'test', ...failed };
    await withSystem((tx) => tx.insertInto('tickets').values(row).execute());
    return [work_item_id, id];
  };

  const artifact = async (organization: TestOrganization): Promise<string> => {
    const title = `of ${organization.slug}`;
    const parts = { type: 'other', title, file: { name: 'proof.txt', content: title } };
    const { body } = await sendArtifact(api.url, await workItem(organization), parts, { authorization: `Bearer ${organization.owner}` });
    return (body as { id: string }).id;
  };

  /** An asset and one of its two tracks. */
  const twoTracks = async (organization: TestOrganization): Promise<[string, string]> => {
    const id = await asset(organization);
    const track = { org_id: organization.id, asset_id: id, kind: 'named', counts: true } as const;
    await withSystem((tx) =>
      tx
        .insertInto('asset_tracks')
        .values([
          { ...track, n: 1, name: 'main' },
          { ...track, n: 2, name: 'master' },
        ])
        .execute(),
    );
    return [id, 'master'];
  };

  const single =
    (one: (organization: TestOrganization) => Promise<string>): Create =>
    async (organization) => [await one(organization)];

  return {
    '/api/v1/members/{id}': single((organization) =>
      create(organization, '/api/v1/members', { email: `${newId()}@example.com`, name: 'Subject', role: 'viewer' }),
    ),
    '/api/v1/api-keys/{id}': single((organization) => create(organization, '/api/v1/api-keys', { name: 'subject', role: 'viewer' })),
    '/api/v1/views/{id}': single((organization) =>
      create(organization, '/api/v1/views', { list: 'findings', name: newId(), query: 'kev=true', scope: 'organization' }),
    ),
    '/api/v1/pipeline-trusts/{id}': single((organization) =>
      create(organization, '/api/v1/pipeline-trusts', {
        name: 'subject',
        issuer: 'https://issuer.example.com',
        conditions: { repository: ['acme/shop'] },
        role: 'viewer',
      }),
    ),
    '/api/v1/webhooks/{id}': single(webhook),
    '/api/v1/webhooks/{id}/deliveries/{delivery_id}': async (organization) => {
      const id = await webhook(organization);
      return [id, await create(organization, `/api/v1/webhooks/${id}/test`)];
    },
    '/api/v1/assets/{id}': single(asset),
    unmergeAsset: single(async (organization) => {
      const [into, id] = [await asset(organization), await asset(organization)];
      await api.call('POST', `/api/v1/assets/${id}/merge`, { as: organization.owner, body: { into } });
      return id;
    }),
    mergeAssetTrack: twoTracks,
    unmergeAssetTrack: async (organization) => {
      const [id, name] = await twoTracks(organization);
      await api.call('POST', `/api/v1/assets/${id}/tracks/${name}/merge`, { as: organization.owner, body: { into: 'main' } });
      return [id, name];
    },
    '/api/v1/assets/{id}/tracks/{name}': async (organization) => [await asset(organization), 'default'],
    '/api/v1/findings/{id}': single(finding),
    '/api/v1/findings/{id}/comments/{comment_id}': async (organization) => {
      const id = await finding(organization);
      return [id, await create(organization, `/api/v1/findings/${id}/comments`, { text: `of ${organization.slug}` })];
    },
    splitFinding: single(async (organization) => {
      const [into, id] = [await finding(organization), await finding(organization)];
      await api.call('POST', `/api/v1/findings/${id}/merge`, { as: organization.owner, body: { into, reason: 'subject' } });
      return id;
    }),
    approveAcceptance: single(requestedAcceptance),
    rejectAcceptance: single(requestedAcceptance),
    '/api/v1/sources/{id}': single((organization) => source(organization, null)),
    reactivateSource: single((organization) => source(organization, new Date())),
    '/api/v1/vulnerability-aliases/{alias}': single((organization) => alias(organization, null)),
    restoreVulnerabilityAlias: single((organization) => alias(organization, new Date())),
    '/api/v1/imports/{id}': single(pendingImport),
    '/api/v1/integrations/{id}': single(scanner),
    '/api/v1/integrations/{id}/runs/{run_id}': (organization) => run(organization, 'queued'),
    confirmRun: (organization) => run(organization, 'needs_confirmation'),
    discardRun: (organization) => run(organization, 'needs_confirmation'),
    '/api/v1/work-items/{id}': single(workItem),
    '/api/v1/work-items/{id}/comments/{comment_id}': async (organization) => {
      const id = await workItem(organization);
      return [id, await create(organization, `/api/v1/work-items/${id}/comments`, { text: `of ${organization.slug}` })];
    },
    '/api/v1/work-items/{id}/approvals/{approval_id}': async (organization) => {
      const id = await workItem(organization);
      const state = await api.call('GET', `/api/v1/work-items/${id}/state`, { as: organization.owner });
      const { state_digest } = state.body as { state_digest: string };
      return [id, await create(organization, `/api/v1/work-items/${id}/approvals`, { decision: 'approved', state_digest })];
    },
    '/api/v1/work-items/{id}/findings/{finding_id}': async (organization) => {
      const id = await finding(organization);
      return [await workItem(organization, [id]), id];
    },
    '/api/v1/work-items/{id}/tickets/{ticket_id}': ticket,
    '/api/v1/riskops-evidence/work-items/{work_item_id}': single(workItem),
    '/api/v1/riskops-evidence/artifacts/{id}': single(artifact),
    // Only one organization has a log, because the first entry of every log has the index 0.
    '/api/v1/riskops-evidence/log/entries/{index}': single(async ({ id }) => (id === api.theirs.id ? String(await addLogEntry(api.db, id)) : '0')),
    '/api/v1/riskops-evidence/packages/{package_id}': single(evidencePackage),
    '/api/v1/riskops-evidence/packages/{package_id}/share-links/{id}': async (organization) => {
      const id = await evidencePackage(organization);
      return [id, (await sharePackage(api, organization.id, id)).id];
    },
  };
}

/** The key of `subjectsOf` that serves a route. */
export function subjectKey({ operationId, path }: DescribedRoute, subjects: Readonly<Record<string, Create>>): string {
  return Object.hasOwn(subjects, operationId) ? operationId : path.slice(0, path.lastIndexOf('}') + 1);
}

async function ticketing(api: SubjectApi, { owner: as }: TestOrganization): Promise<string> {
  const settings = { config: { api_url: 'http://127.0.0.1:1', project_key: 'SEC' }, credentials: { email: 'a@b.example', token: 'token-of-a-test' } };
  const { body } = await api.call('POST', '/api/v1/integrations', { as, body: { provider: 'jira', name: newId(), ...settings } });
  return (body as { id: string }).id;
}

/** Fields of request bodies that must refer to a resource of the organization, by operationId. All other fields come from the example. */
export const bodySamples: Readonly<Record<string, (api: SubjectApi, organization: TestOrganization, path: PathValues) => Promise<object>>> = {
  // On the same asset as the subject.
  mergeFinding: async (api, { owner, slug }) => {
    const body = { title: 'same', severity: 'high', asset: { type: 'host', name: `of ${slug}` } };
    return { into: ((await api.call('POST', '/api/v1/findings', { as: owner, body })).body as { id: string }).id };
  },
  mergeAsset: async (api, { owner, slug }) => {
    const body = { type: 'host', name: `${newId()} of ${slug}` };
    return { into: ((await api.call('POST', '/api/v1/assets', { as: owner, body })).body as { id: string }).id };
  },
  addVulnerabilityAlias: async (api, { id: org_id }) => {
    const [alias, weakness] = [`TEST-${newId()}`.toUpperCase(), `CVE-${newId()}`.toUpperCase()];
    await api.db.withSystem((tx) => tx.insertInto('alias_claims').values({ org_id, alias, weakness, provider: 'test' }).execute());
    return { alias, vulnerability: weakness };
  },
  decideOnWorkItem: async (api, { owner }, [id]) => {
    const { body } = await api.call('GET', `/api/v1/work-items/${id}/state`, { as: owner });
    return { state_digest: (body as { state_digest?: string }).state_digest ?? '0'.repeat(64) };
  },
  pushTicket: async (api, organization) => ({ connection_id: await ticketing(api, organization) }),
};
