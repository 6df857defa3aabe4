import type { Connector, Settings } from '@rrs/connectors';
import { sql } from 'kysely';
import { recordAudit } from '../../audit/record.ts';
import type { TenantTx, Tx } from '../../db/database.ts';
import { fetchPage, type PageRequest } from '../../db/pages.ts';
import { emit } from '../../events/emit.ts';
import type { Actor } from '../../shared/actor.ts';
import { AppError, errorCodeOf, notFound } from '../../shared/errors.ts';
import { newId } from '../../shared/ids.ts';
import { chosenProvider, type Providers, providerOf } from './providers.ts';
import type { KeyRing } from './secrets.ts';
import { assertSecretsGivenAgain, checkedSettings, type Refusal } from './settings.ts';

export interface IntegrationDeps {
  providers: Providers;
  keys: KeyRing;
  /** Origins that enrichment may come from beside the vendors' own: what it learns is shared by all organizations. */
  mirrors: readonly string[];
  refusal: Refusal;
}

export interface NewConnection {
  provider: string;
  name?: string;
  config?: Record<string, unknown>;
  credentials?: Record<string, unknown>;
  schedule?: { every_minutes: number } | null;
  enabled?: boolean;
}

export type ConnectionPatch = Omit<NewConnection, 'provider'>;

/** Credentials are bound to the connection: sealed bytes of another one do not open. */
const sealContext = (orgId: string, id: string): string => `connection ${orgId} ${id}`;

/** Once a day at a minute of its own, unless told. */
const EVERY_MINUTES = 24 * 60;

export async function createConnection(tx: TenantTx, actor: Actor, deps: IntegrationDeps, input: NewConnection): Promise<ConnectionRow> {
  const provider = chosenProvider(deps.providers, input.provider);
  const settings = checkedSettings(provider, { config: input.config ?? {}, credentials: input.credentials ?? {} }, deps.refusal);
  assertTrustedSource(deps, provider, settings);
  const id = newId();
  const sealed = await deps.keys.seal(sealContext(actor.orgId, id), settings.credentials as Record<string, unknown>);
  const everyMinutes = input.schedule === undefined ? EVERY_MINUTES : (input.schedule?.every_minutes ?? null);
  await unlessNameIsTaken(input.name ?? provider.name, () =>
    tx
      .insertInto('connections')
      .values({
        org_id: actor.orgId,
        id,
        provider: provider.id,
        kind: provider.kind,
        name: input.name ?? provider.name,
        enabled: input.enabled ?? true,
        config: JSON.stringify(settings.config),
        credentials: sealed.bytes,
        credentials_key: sealed.keyId,
        credential_marks: JSON.stringify(marksOf(settings.credentials as Record<string, unknown>)),
        every_minutes: everyMinutes,
        next_run_at: everyMinutes === null ? null : sql<Date>`now()`,
        created_by: actor.name,
      })
      .execute(),
  );
  const after = { provider: provider.id, name: input.name ?? provider.name, enabled: input.enabled ?? true, config: settings.config };
  await recordAudit(tx, actor, { action: 'connection.created', objectType: 'connection', objectId: id, after });
  await emit(tx, actor.orgId, { type: 'connection.created', subject: id, data: { provider: provider.id, name: after.name } });
  return readConnection(tx, actor.orgId, id);
}

export async function updateConnection(tx: TenantTx, actor: Actor, deps: IntegrationDeps, change: Change): Promise<ConnectionRow> {
  const { id, patch, check } = change;
  const row = await readConnection(tx, actor.orgId, id, true);
  check(row);
  const provider = providerOf(deps.providers, row.provider);
  const secret = await openCredentials(deps.keys, row);
  const config = { ...(row.config as Record<string, unknown>), ...patch.config };
  const credentials = { ...secret, ...patch.credentials };
  // A field that is cleared goes back to its default, if it has one.
  for (const values of [config, credentials]) for (const [name, value] of Object.entries(values)) if (value === null) delete values[name];
  const before = { config: row.config, credentials: secret } as Settings;
  // Who only pauses or renames it is not held up by settings that were right once.
  const isSet = patch.config !== undefined || patch.credentials !== undefined;
  const settings = isSet ? checkedSettings(provider, { config, credentials }, deps.refusal) : before;
  if (isSet) {
    assertSecretsGivenAgain(provider, { before, after: settings, given: patch.credentials ?? {} });
    assertTrustedSource(deps, provider, settings);
  }
  const sealed = await deps.keys.seal(sealContext(actor.orgId, id), settings.credentials as Record<string, unknown>);
  const everyMinutes = patch.schedule === undefined ? row.every_minutes : (patch.schedule?.every_minutes ?? null);
  const enabled = patch.enabled ?? row.enabled;
  const configChanged = patch.config !== undefined && JSON.stringify(settings.config) !== JSON.stringify(row.config);
  const reschedule = everyMinutes !== row.every_minutes || (enabled && !row.enabled) || patch.credentials !== undefined || configChanged;
  await unlessNameIsTaken(patch.name ?? row.name, () =>
    tx
      .updateTable('connections')
      .set({
        name: patch.name ?? row.name,
        enabled,
        config: JSON.stringify(settings.config),
        credentials: sealed.bytes,
        credentials_key: sealed.keyId,
        credential_marks: JSON.stringify(marksAfter(row, patch, settings)),
        every_minutes: everyMinutes,
        ...(reschedule ? { next_run_at: everyMinutes === null ? null : sql<Date>`now()` } : {}),
        // What was brought under other settings says nothing about what is missing under these.
        ...(configChanged ? { cursor: null, full_at: null } : {}),
        version: row.version + 1,
        updated_at: sql<Date>`now()`,
      })
      .where('org_id', '=', actor.orgId)
      .where('id', '=', id)
      .execute(),
  );
  const after = {
    name: patch.name ?? row.name,
    enabled,
    config: settings.config,
    every_minutes: everyMinutes,
    credentials_changed: Object.keys(patch.credentials ?? {}),
  };
  const was = { name: row.name, enabled: row.enabled, config: row.config, every_minutes: row.every_minutes };
  await recordAudit(tx, actor, { action: 'connection.updated', objectType: 'connection', objectId: id, before: was, after });
  await emit(tx, actor.orgId, { type: 'connection.updated', subject: id, data: { name: after.name, enabled } });
  return readConnection(tx, actor.orgId, id);
}

interface Change {
  id: string;
  patch: ConnectionPatch;
  check: (current: ConnectionRow) => void;
}

/** Its findings and runs stay; its credentials do not, and nothing runs any more. */
export async function deleteConnection(tx: TenantTx, actor: Actor, id: string): Promise<void> {
  const row = await readConnection(tx, actor.orgId, id, true);
  await tx
    .updateTable('connections')
    .set({
      deleted_at: sql<Date>`now()`,
      enabled: false,
      next_run_at: null,
      credentials: null,
      credentials_key: null,
      credential_marks: '{}',
      version: row.version + 1,
    })
    .where('org_id', '=', actor.orgId)
    .where('id', '=', id)
    .execute();
  await tx
    .updateTable('sync_runs')
    .set({ cancel_requested: true })
    .where('org_id', '=', actor.orgId)
    .where('connection_id', '=', id)
    .where('status', 'in', ['queued', 'running'])
    .execute();
  await recordAudit(tx, actor, { action: 'connection.deleted', objectType: 'connection', objectId: id, before: { provider: row.provider, name: row.name } });
  await emit(tx, actor.orgId, { type: 'connection.deleted', subject: id, data: { provider: row.provider, name: row.name } });
}

export async function readConnection(tx: TenantTx, orgId: string, id: string, lock = false) {
  const query = tx.selectFrom('connections').selectAll().where('org_id', '=', orgId).where('id', '=', id).where('deleted_at', 'is', null);
  const row = await (lock ? query.forUpdate() : query).executeTakeFirst();
  if (!row) throw notFound('connection', id);
  return row;
}

export type ConnectionRow = Awaited<ReturnType<typeof readConnection>>;

export interface ConnectionFilter {
  kind?: ('scanner' | 'ticketing' | 'enrichment')[];
  provider?: string[];
}

export function listConnections(tx: TenantTx, orgId: string, { kind, provider }: ConnectionFilter, page: PageRequest) {
  let query = tx.selectFrom('connections').selectAll().where('org_id', '=', orgId).where('deleted_at', 'is', null);
  if (kind) query = query.where('kind', 'in', kind);
  if (provider) query = query.where('provider', 'in', provider);
  return fetchPage(tx, query, { created_at: { column: 'created_at', type: 'timestamptz' } }, page);
}

export async function openCredentials(
  keys: KeyRing,
  row: Pick<ConnectionRow, 'org_id' | 'id' | 'credentials' | 'credentials_key'>,
): Promise<Record<string, unknown>> {
  if (row.credentials === null || row.credentials_key === null) return {};
  return keys.open(sealContext(row.org_id, row.id), { keyId: row.credentials_key, bytes: row.credentials });
}

/** With a new key; then nothing is left that needs an old one. */
export async function resealCredentials(tx: Tx, keys: KeyRing): Promise<{ count: number; keyId: string }> {
  const keyId = await keys.rotate();
  const rows = await tx
    .selectFrom('connections')
    .select(['org_id', 'id', 'credentials', 'credentials_key'])
    .where('credentials', 'is not', null)
    .forUpdate()
    .execute();
  for (const row of rows) {
    const sealed = await keys.seal(sealContext(row.org_id, row.id), await openCredentials(keys, row));
    await tx
      .updateTable('connections')
      .set({ credentials: sealed.bytes, credentials_key: keyId })
      .where('org_id', '=', row.org_id)
      .where('id', '=', row.id)
      .execute();
  }
  return { count: rows.length, keyId };
}

function marksAfter({ credential_marks }: ConnectionRow, { credentials = {} }: ConnectionPatch, settings: Settings): Record<string, unknown> {
  const marks = Object.entries({ ...(credential_marks as Record<string, unknown>), ...marksOf(credentials) });
  return Object.fromEntries(marks.filter(([name]) => Object.hasOwn(settings.credentials, name)));
}

function marksOf(credentials: Record<string, unknown>): Record<string, { updated_at: string; hint: string | null }> {
  const updatedAt = new Date().toISOString();
  return Object.fromEntries(
    Object.entries(credentials).flatMap(([name, value]) => {
      if (value === null || value === undefined) return [];
      const text = String(value);
      return [[name, { updated_at: updatedAt, hint: text.length >= 12 ? `…${text.slice(-4)}` : null }]];
    }),
  );
}

function assertTrustedSource({ mirrors }: IntegrationDeps, provider: Connector, settings: Settings): void {
  if (provider.kind !== 'enrichment') return;
  const usual = checkedUsual(provider, settings);
  const { origin } = new URL(provider.baseUrl(settings));
  if (usual.includes(origin) || mirrors.includes(origin)) return;
  const detail = `${origin} is not the address of ${provider.name}. What is learned there would count for every organization, so an operator has to allow it with RRS_ENRICHMENT_MIRRORS`;
  throw new AppError('validation_failed', `${detail}.`, { errors: [{ in: 'body', path: '/config', code: 'not_allowed', detail }] });
}

/** Where it comes from when nothing is said about addresses. */
function checkedUsual(provider: Connector, { config, credentials }: Settings): string[] {
  const usual = Object.fromEntries(
    Object.entries(config as Record<string, unknown>).map(([name, value]) => {
      const field = provider.config.properties[name] as { format?: string; default?: unknown } | undefined;
      return [name, field?.format === 'uri' ? field.default : value];
    }),
  );
  try {
    return [new URL(provider.baseUrl({ config: usual, credentials } as Settings)).origin];
  } catch {
    return [];
  }
}

async function unlessNameIsTaken(name: string, write: () => Promise<unknown>): Promise<void> {
  try {
    await write();
  } catch (error) {
    if (errorCodeOf(error) !== '23505') throw error;
    throw new AppError('conflict', `There is a connection named "${name}" already. Give this one another name.`);
  }
}
