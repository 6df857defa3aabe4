import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../shared/ids.ts';
import { type Access, can, roles } from '../shared/permissions.ts';
import { addLogEntry, sendArtifact } from '../testing/evidence/evidence.ts';
import { sharePackage, storePackage, unknownToken } from '../testing/evidence/stored-package.ts';
import { startApi, type TestApi, type TestOrganization } from '../testing/http/api.ts';
import { type Operation, operations } from '../testing/http/description.ts';

/** Who may call what. An operation that is missing here fails the walk. */
const access: Record<string, Access> = {
  getDescription: 'public',
  createSession: 'public',
  deleteSession: 'authenticated',
  getMe: 'authenticated',
  changeOwnPassword: 'authenticated',
  getOrganization: 'organization:read',
  updateOrganization: 'organization:manage',
  listMembers: 'members:read',
  addMember: 'members:manage',
  getMember: 'members:read',
  updateMember: 'members:manage',
  removeMember: 'members:manage',
  listApiKeys: 'api_keys:read',
  createApiKey: 'api_keys:manage',
  getApiKey: 'api_keys:read',
  updateApiKey: 'api_keys:manage',
  revokeApiKey: 'api_keys:manage',
  listAuditEvents: 'audit:read',
  listWebhooks: 'webhooks:read',
  createWebhook: 'webhooks:manage',
  getWebhook: 'webhooks:read',
  updateWebhook: 'webhooks:manage',
  deleteWebhook: 'webhooks:manage',
  rotateWebhookSecret: 'webhooks:manage',
  testWebhook: 'webhooks:manage',
  listWebhookDeliveries: 'webhooks:read',
  replayWebhookDelivery: 'webhooks:manage',
  streamEvents: 'events:read',
  listAssets: 'assets:read',
  getAsset: 'assets:read',
  updateAsset: 'assets:manage',
  listFindings: 'findings:read',
  createFinding: 'findings:triage',
  getFinding: 'findings:read',
  updateFinding: 'findings:triage',
  listFindingHistory: 'findings:read',
  changeFindings: 'findings:triage',
  getFindingStats: 'findings:read',
  exportFindings: 'findings:read',
  listImportFormats: 'public',
  listImports: 'imports:read',
  createImport: 'imports:manage',
  getImport: 'imports:read',
  confirmImport: 'imports:manage',
  discardImport: 'imports:manage',
  listIntegrationProviders: 'public',
  listConnections: 'integrations:read',
  createConnection: 'integrations:manage',
  getIntegrationHealth: 'integrations:read',
  getConnection: 'integrations:read',
  updateConnection: 'integrations:manage',
  deleteConnection: 'integrations:manage',
  testConnection: 'integrations:manage',
  syncAllConnections: 'integrations:sync',
  syncConnection: 'integrations:sync',
  listRuns: 'integrations:read',
  getRun: 'integrations:read',
  cancelRun: 'integrations:sync',
  confirmRun: 'integrations:sync',
  discardRun: 'integrations:sync',
  listWorkItems: 'work_items:read',
  createWorkItem: 'work_items:manage',
  getWorkItem: 'work_items:read',
  updateWorkItem: 'work_items:manage',
  listWorkItemTimeline: 'work_items:read',
  listWorkItemFindings: 'work_items:read',
  addWorkItemFindings: 'work_items:manage',
  removeWorkItemFinding: 'work_items:manage',
  decideOnWorkItem: 'work_items:manage',
  pushTicket: 'work_items:manage',
  listTickets: 'work_items:read',
  unlinkTicket: 'work_items:manage',
  repairTicket: 'work_items:manage',
  listDriftedTickets: 'work_items:read',
  receiveTicketMessage: 'public',
  listArtifacts: 'evidence:read',
  addArtifact: 'evidence:manage',
  getArtifact: 'evidence:read',
  getArtifactContent: 'evidence:read',
  removeArtifact: 'evidence:manage',
  getLogCheckpoint: 'evidence:read',
  getLogEntry: 'evidence:read',
  proveLogInclusion: 'evidence:read',
  proveLogConsistency: 'evidence:read',
  listEvidenceKeys: 'public',
  listEvidencePackages: 'evidence:read',
  listWorkItemEvidencePackages: 'evidence:read',
  getEvidencePackage: 'evidence:read',
  createEvidencePackage: 'evidence:manage',
  downloadEvidencePackage: 'evidence:read',
  verifyEvidencePackage: 'evidence:read',
  createShareLink: 'evidence:manage',
  listShareLinks: 'evidence:read',
  revokeShareLink: 'evidence:manage',
  getSharedEvidencePackage: 'public',
  downloadSharedEvidencePackage: 'public',
  verifyUploadedPackage: 'evidence:read',
  getEvidenceStats: 'evidence:read',
};

let api: TestApi;
const routes: { method: string; url: string; access: unknown; hidden: boolean }[] = [];

beforeAll(async () => {
  api = await startApi({
    config: { RRS_TRUSTED_PROXIES: '127.0.0.1', RRS_OUTBOUND_ALLOW: '127.0.0.1' },
    prepare: async (app) => {
      app.addHook('onRoute', ({ method, url, config, schema }) => {
        const hidden = (schema as { hide?: boolean } | undefined)?.hide === true;
        for (const each of [method].flat()) if (each !== 'HEAD') routes.push({ method: each, url, access: config?.access, hidden });
      });
    },
  });
});
afterAll(() => api?.close());

/** Makes what the parameters of a path stand for in an organization, and says its id, or several in their order. A path that is missing here fails the walk. */
const subjects: Record<string, (organization: TestOrganization) => Promise<string>> = {
  '/api/v1/members/{id}': (organization) => created(organization, '/api/v1/members', { email: `${newId()}@example.com`, name: 'Subject', role: 'viewer' }),
  '/api/v1/api-keys/{id}': (organization) => created(organization, '/api/v1/api-keys', { name: 'subject', role: 'viewer' }),
  '/api/v1/webhooks/{id}': webhook,
  '/api/v1/webhooks/{id}/rotate-secret': webhook,
  '/api/v1/webhooks/{id}/test': webhook,
  '/api/v1/webhooks/{id}/deliveries': webhook,
  '/api/v1/webhooks/{id}/deliveries/{delivery_id}/replay': async (organization) => {
    const id = await webhook(organization);
    return `${id} ${await created(organization, `/api/v1/webhooks/${id}/test`)}`;
  },
  '/api/v1/assets/{id}': async (organization) => {
    const id = await finding(organization);
    return ((await api.call('GET', `/api/v1/findings/${id}`, { as: organization.owner })).body as { asset: { id: string } }).asset.id;
  },
  '/api/v1/findings/{id}': finding,
  '/api/v1/findings/{id}/history': finding,
  '/api/v1/imports/{id}': heldImport,
  '/api/v1/imports/{id}/confirm': heldImport,
  '/api/v1/imports/{id}/discard': heldImport,
  '/api/v1/integrations/{id}': connection,
  '/api/v1/integrations/{id}/test': connection,
  '/api/v1/integrations/{id}/sync': connection,
  '/api/v1/integrations/{id}/runs': connection,
  '/api/v1/integrations/{id}/runs/{run_id}': (organization) => syncRun(organization, 'queued'),
  '/api/v1/integrations/{id}/runs/{run_id}/cancel': (organization) => syncRun(organization, 'queued'),
  '/api/v1/integrations/{id}/runs/{run_id}/confirm': (organization) => syncRun(organization, 'needs_confirmation'),
  '/api/v1/integrations/{id}/runs/{run_id}/discard': (organization) => syncRun(organization, 'needs_confirmation'),
  '/api/v1/work-items/{id}': workItem,
  '/api/v1/work-items/{id}/timeline': workItem,
  '/api/v1/work-items/{id}/findings': workItem,
  '/api/v1/work-items/{id}/approvals': workItem,
  '/api/v1/work-items/{id}/findings/{finding_id}': async (organization) => {
    const subject = await finding(organization);
    return `${await workItem(organization, [subject])} ${subject}`;
  },
  '/api/v1/work-items/{id}/tickets': async (organization) => {
    const item = await workItem(organization);
    pushedTo.set(item, await ticketing(organization));
    return item;
  },
  '/api/v1/work-items/{id}/tickets/{ticket_id}': ticket,
  '/api/v1/work-items/{id}/tickets/{ticket_id}/repair': ticket,
  '/api/v1/riskops-evidence/work-items/{work_item_id}/artifacts': workItem,
  '/api/v1/riskops-evidence/artifacts/{id}': artifact,
  '/api/v1/riskops-evidence/artifacts/{id}/content': artifact,
  // Only they have a log: the entries of both would be called 0.
  '/api/v1/riskops-evidence/log/entries/{index}': async (organization) =>
    organization === api.theirs ? String(await addLogEntry(api.db, organization.id)) : '0',
  '/api/v1/riskops-evidence/work-items/{work_item_id}/packages': workItem,
  '/api/v1/riskops-evidence/packages/{package_id}': evidencePackage,
  '/api/v1/riskops-evidence/packages/{package_id}/download': evidencePackage,
  '/api/v1/riskops-evidence/packages/{package_id}/verify': evidencePackage,
  '/api/v1/riskops-evidence/packages/{package_id}/share-links': evidencePackage,
  '/api/v1/riskops-evidence/packages/{package_id}/share-links/{id}': async (organization) => {
    const subject = await evidencePackage(organization);
    return `${subject} ${(await sharePackage(api, organization.id, subject)).id}`;
  },
};

async function evidencePackage(organization: TestOrganization): Promise<string> {
  return storePackage(api, { orgId: organization.id, workItemId: await workItem(organization) });
}

async function artifact(organization: TestOrganization): Promise<string> {
  const title = `of ${organization.slug}`;
  const parts = { type: 'other', title, file: { name: 'proof.txt', content: title } };
  const { body } = await sendArtifact(api.url, await workItem(organization), parts, { authorization: `Bearer ${organization.owner}` });
  return (body as { id: string }).id;
}

function connection(organization: TestOrganization): Promise<string> {
  const settings = { config: { api_url: 'http://127.0.0.1:1/rest', organization_id: 'x' }, credentials: { token: 'token-of-a-test' } };
  return created(organization, '/api/v1/integrations', { provider: 'snyk', name: newId(), schedule: null, ...settings });
}

async function syncRun(organization: TestOrganization, status: 'queued' | 'needs_confirmation'): Promise<string> {
  const [connection_id, id] = [await connection(organization), newId()];
  const held = status === 'needs_confirmation' ? { import_id: await heldImport(organization), finished_at: new Date() } : {};
  const row = { org_id: organization.id, id, connection_id, trigger: 'manual', mode: 'full', status, requested_by: 'test', actor: '{}', ...held } as const;
  await api.db.withSystem((tx) => tx.insertInto('sync_runs').values(row).execute());
  return `${connection_id} ${id}`;
}

/** Work items and the connections that they are pushed to. */
const pushedTo = new Map<string, string>();

function ticketing(organization: TestOrganization): Promise<string> {
  const settings = { config: { api_url: 'http://127.0.0.1:1', project_key: 'SEC' }, credentials: { email: 'a@b.example', token: 'token-of-a-test' } };
  return created(organization, '/api/v1/integrations', { provider: 'jira', name: newId(), ...settings });
}

/** One that could not be made, so that it is on the list of those that differ. */
async function ticket(organization: TestOrganization): Promise<string> {
  const [connection_id, work_item_id, id] = [await ticketing(organization), await workItem(organization), newId()];
  const failed = { status: 'failed', error_kind: 'unavailable', error: `of ${organization.slug}` } as const;
  const row = { org_id: organization.id, id, work_item_id, connection_id, marker: 'rrs-0', created_by: 'test', ...failed };
  await api.db.withSystem((tx) => tx.insertInto('tickets').values(row).execute());
  return `${work_item_id} ${id}`;
}

/** The only one, for there may be but a few. */
async function webhook(organization: TestOrganization): Promise<string> {
  await api.db.withSystem((tx) => tx.deleteFrom('webhooks').where('org_id', '=', organization.id).execute());
  return created(organization, '/api/v1/webhooks', { url: 'http://127.0.0.1:1/', event_types: ['*'], description: `of ${organization.slug}` });
}

function finding(organization: TestOrganization): Promise<string> {
  return created(organization, '/api/v1/findings', { title: 'subject', severity: 'high', asset: { type: 'host', name: `of ${organization.slug}` } });
}

function workItem(organization: TestOrganization, finding_ids?: string[]): Promise<string> {
  return created(organization, '/api/v1/work-items', { title: `of ${organization.slug}`, ...(finding_ids ? { finding_ids } : {}) });
}

/** One that waits for a decision, as both of them need it. */
async function heldImport({ id: org_id }: TestOrganization): Promise<string> {
  const [id, source] = [newId(), newId()];
  await api.db.withSystem(async (tx) => {
    await tx.insertInto('sources').values({ org_id, id: source, kind: 'import', provider: 'trivy', name: source }).execute();
    const row = {
      org_id,
      id,
      source_id: source,
      sha256: '',
      bytes: '0',
      created_by: 'test',
      actor: JSON.stringify({ type: 'system', id: null, name: 'test' }),
    };
    await tx
      .insertInto('imports')
      .values({ ...row, status: 'needs_confirmation' })
      .execute();
  });
  return id;
}

async function created({ owner }: TestOrganization, path: string, body?: object): Promise<string> {
  return ((await api.call('POST', path, { as: owner, ...(body ? { body } : {}) })).body as { id: string }).id;
}

/** The example of the description, so far as it would not collide with what is there. */
function bodyOf(operation: Operation, id: string): object | string | undefined {
  const example = Object.values(operation.requestBody?.content ?? {})[0]?.example as Record<string, unknown> | string | undefined;
  if (example === undefined || typeof example === 'string') return example;
  return {
    ...example,
    ...('email' in example ? { email: `${newId()}@example.com` } : {}),
    ...('role' in example ? { role: 'viewer' } : {}),
    ...('provider' in example ? { name: newId() } : {}),
    ...('connection_id' in example ? { connection_id: pushedTo.get(id.toLowerCase()) ?? newId() } : {}),
  };
}

let calls = 0;

/** Each from an address of its own, so that wrong credentials do not add up. */
function call(operation: Operation, id: string, key?: string) {
  const body = bodyOf(operation, id);
  const ids = id.split(' ');
  const path = operation.path.replace(/\{\w+\}/g, () => (ids.length > 1 ? ids.shift() : ids[0]) ?? '');
  const query = operation.parameters.flatMap(({ in: place, required, name, example }) => (place === 'query' && required ? [[name, String(example)]] : []));
  const search = query.length > 0 ? `?${new URLSearchParams(query as [string, string][])}` : '';
  // What would wait for something to happen need not.
  const headers = { 'x-forwarded-for': `198.51.100.${++calls % 256}`, prefer: 'wait=0' };
  return api.call(operation.method, path + search, { headers, ...(key === undefined ? {} : { as: key }), ...(body === undefined ? {} : { body }) });
}

const named = operations.map((operation) => [operation.operationId, operation] as const);
/** What is asked for with the token of a share link belongs to whoever has it. */
const withToken = named.filter(([, { path }]) => path.includes('{token}'));
/** Vendors sign what they send, and have no other credential. */
const isSigned = (path: string): boolean => path.endsWith('/inbound');
const withSubject = named.filter(([, { path }]) => path.includes('{') && !path.includes('{token}') && !isSigned(path));
const lists = named.filter(([, { path, responses }]) => !path.includes('{') && JSON.stringify(responses[200]?.content ?? {}).includes('List"'));

async function everythingOf({ id }: TestOrganization): Promise<string> {
  const tables = [
    'organizations',
    'members',
    'sessions',
    'api_keys',
    'audit_events',
    'events',
    'webhooks',
    'webhook_deliveries',
    'idempotency_keys',
    'sources',
    'assets',
    'findings',
    'finding_history',
    'imports',
    'work_items',
    'work_item_findings',
    'work_item_approvals',
    'tickets',
    'ticket_polls',
    'artifacts',
    'artifact_removals',
    'log_leaves',
    'evidence_packages',
    'package_receipts',
    'share_links',
  ];
  return api.db.withSystem(async (tx) => {
    const rows = [];
    for (const table of tables) {
      const owner = sql.ref(table === 'organizations' ? 'id' : 'org_id');
      rows.push(await sql`select to_jsonb(t) - 'last_used_at' as row from ${sql.table(table)} t where ${owner} = ${id} order by t::text`.execute(tx));
    }
    return JSON.stringify(rows.map((result) => result.rows));
  });
}

describe('the walk', () => {
  it('covers every route that exists', () => {
    const published = operations.map(({ method, path }) => `${method} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`).sort();
    const existing = routes.filter(({ hidden }) => !hidden).map(({ method, url }) => `${method} ${url}`);
    expect(existing.sort()).toEqual(published);
    expect(Object.keys(access).sort()).toEqual(operations.map(({ operationId }) => operationId).sort());
    expect(Object.keys(subjects).sort()).toEqual([...new Set(withSubject.map(([, { path }]) => path))].sort());
  });

  it('finds hidden routes only among the pages and tools that are for everyone', () => {
    const hidden = routes.filter((route) => route.hidden);
    expect(hidden.map(({ url }) => url).sort()).toEqual([
      '/',
      '/.well-known/evidence/jwks.json',
      '/.well-known/evidence/keys/:file',
      '/docs',
      '/docs/',
      '/docs/js/scalar.js',
      '/favicon.ico',
      '/healthz',
      '/metrics',
      '/problems/:code',
      '/readyz',
    ]);
    expect(new Set(hidden.map((route) => route.access))).toEqual(new Set(['public']));
  });

  it('finds each route declared as it is meant', () => {
    for (const { operationId, method, path, security } of operations) {
      const route = routes.find((candidate) => candidate.method === method && candidate.url === path.replaceAll(/\{(\w+)\}/g, ':$1'));
      expect.soft(route?.access, operationId).toBe(access[operationId]);
      expect.soft(security, operationId).toEqual(access[operationId] === 'public' ? [] : undefined);
    }
  });
});

describe('without a credential', () => {
  it.each(named)('%s asks for one, unless it is public', async (id, operation) => {
    const before = await everythingOf(api.ours);
    for (const key of [undefined, 'rrs_unknown', `${api.ours.owner.slice(0, -1)}${api.ours.owner.endsWith('A') ? 'B' : 'A'}`]) {
      const { status, headers, body } = await call(operation, newId(), key);
      if (access[id] === 'public') expect(operation.path.includes('{') ? [404] : [200, 401]).toContain(status);
      else {
        expect([status, (body as { code: string }).code]).toEqual([401, 'unauthenticated']);
        expect(headers.get('www-authenticate')).toMatch(/^Bearer realm="rrs"/);
      }
    }
    expect(await everythingOf(api.ours)).toBe(before);
  });
});

describe.each(roles)('as %s', (role) => {
  it.each(named.filter(([id]) => access[id] !== 'public'))('%s is refused or not, as the table of permissions says', async (id, operation) => {
    const wanted = access[id] as Access;
    const allowed = wanted === 'authenticated' || can(role, wanted as Exclude<Access, 'public' | 'authenticated'>);
    const key = await api.ours.key(role);
    const before = await everythingOf(api.ours);
    const { status, body } = await call(operation, newId(), key);
    if (allowed) {
      expect([200, 201, 202, 404, 409]).toContain(status);
      if (operation.path.includes('{')) expect(status).toBe(404);
    } else {
      expect([status, (body as { code: string }).code]).toEqual([403, 'forbidden']);
      expect(await everythingOf(api.ours)).toBe(before);
    }
  });
});

describe('of another organization', () => {
  it.each(withSubject)('nothing is found or changed by %s', async (_, operation) => {
    const id = await (subjects[operation.path] as (typeof subjects)[string])(api.theirs);
    const before = await everythingOf(api.theirs);
    for (const given of [id, id.toUpperCase()]) {
      const { status, body } = await call(operation, given, api.ours.owner);
      expect([status, (body as { code: string }).code]).toEqual([404, 'not_found']);
    }
    const nowhere = await call(operation, newId(), api.ours.owner);
    expect(nowhere.status).toBe(404);
    expect(await everythingOf(api.theirs)).toBe(before);
    expect((await call(operation, id, api.theirs.owner)).status).toBeLessThan(300);
  });

  it.each(lists)('no row is shown by %s', async (_, operation) => {
    for (const make of Object.values(subjects)) await Promise.all([make(api.ours), make(api.theirs)]);
    const rowsOf = async ({ owner }: TestOrganization) => {
      const { status, body } = await api.call('GET', `${operation.path}?limit=200`, { as: owner });
      expect(status).toBe(200);
      return (body as { data: { id?: string; package_id?: string }[] }).data.map(({ id, package_id, ...row }) => ({ ...row, id: id ?? package_id }));
    };
    const [ours, theirs] = [await rowsOf(api.ours), await rowsOf(api.theirs)];
    expect(Math.min(ours.length, theirs.length)).toBeGreaterThan(0);
    const known = new Set(ours.map(({ id }) => id));
    expect(theirs.filter(({ id }) => known.has(id))).toEqual([]);
    expect(JSON.stringify(ours)).not.toContain('of theirs');
    expect(JSON.stringify(theirs)).not.toContain('of ours');
  });

  it.each(withToken)('only a holder of a token gets anything from %s', async (_, operation) => {
    const { token } = await sharePackage(api, api.theirs.id, await evidencePackage(api.theirs));
    expect((await call(operation, token)).status).toBe(200);
    const ofOurs = unknownToken(api.ours.id);
    const crossed = `shr_${Buffer.concat([Buffer.from(token.slice(4), 'base64url').subarray(0, 32), Buffer.from(ofOurs.slice(4), 'base64url').subarray(32)]).toString('base64url')}`;
    for (const other of [ofOurs, crossed, token.replace('shr_', 'rrs_'), token.toLowerCase()])
      expect((await call(operation, other, api.theirs.owner)).status).toBe(404);
  });

  it('lists exist', () =>
    expect(lists.map(([id]) => id).sort()).toEqual([
      'listApiKeys',
      'listAssets',
      'listAuditEvents',
      'listConnections',
      'listDriftedTickets',
      'listEvidencePackages',
      'listFindings',
      'listImports',
      'listMembers',
      'listWebhooks',
      'listWorkItems',
    ]));

  it('no count, export or bulk change reaches over', async () => {
    for (const organization of [api.ours, api.theirs]) await finding(organization);
    const stats = async () => (await api.call('GET', '/api/v1/findings/stats', { as: api.theirs.owner })).body;
    const before = [await everythingOf(api.theirs), await stats()];
    const exported = await api.call('GET', '/api/v1/findings/export?format=ndjson', { as: api.ours.owner });
    expect(exported.body).toContain('of ours');
    expect(exported.body).not.toContain('of theirs');
    await api.call('POST', '/api/v1/findings/bulk', { as: api.ours.owner, body: { filter: { risk_min: 0 }, change: { add_tags: ['reached'] } } });
    await api.call('POST', '/api/v1/work-items', { as: api.ours.owner, body: { title: 'all of ours', filter: { risk_min: 0 } } });
    expect([await everythingOf(api.theirs), await stats()]).toEqual(before);
  });
});
