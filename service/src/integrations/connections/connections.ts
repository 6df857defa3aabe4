import type { Connector, Settings } from '@rrs/connectors';
import { type Selectable, sql } from 'kysely';
import type { Static } from 'typebox';
import { recordAudit } from '../../audit/record.ts';
import type { TenantTx, Tx } from '../../db/database.ts';
import { fetchPage, type PageRequest } from '../../db/pages.ts';
import type { DB } from '../../db/types.ts';
import { emit } from '../../events/emit.ts';
import type { Actor } from '../../shared/actor.ts';
import { AppError, errorCodeOf, notFound } from '../../shared/errors.ts';
import { newId } from '../../shared/ids.ts';
import type { ConnectionCreate, ConnectionQuery, ConnectionPatch as PatchSchema } from '../schemas.ts';
import { type Providers, providerOf, requestedProvider } from './providers.ts';
import type { KeyRing } from './secrets.ts';
import { assertSecretsSupplied, checkedSettings, type Refusal } from './settings.ts';

export interface IntegrationDeps {
  providers: Providers;
  keys: KeyRing;
  /** Origins that serve vulnerability data in addition to the vendors' own. The data is shared by all organizations, so only an operator can add one. */
  mirrors: readonly string[];
  refusal: Refusal;
}

export type NewConnection = Static<typeof ConnectionCreate>;
type ConnectionPatch = Static<typeof PatchSchema>;

/** Binds encrypted credentials to their connection. They cannot be decrypted in the row of another connection. */
const sealContext = (orgId: string, id: string): string => `connection ${orgId} ${id}`;

const DEFAULT_EVERY_MINUTES = 24 * 60;

/** The settings of a connection that is not stored yet, checked as they are when it is created. */
export function newSettings(
  deps: IntegrationDeps,
  input: Pick<NewConnection, 'provider' | 'config' | 'credentials'>,
): { provider: Connector; settings: Settings } {
  const provider = requestedProvider(deps.providers, input.provider);
  const settings = checkedSettings(provider, { config: input.config ?? {}, credentials: input.credentials ?? {} }, deps.refusal);
  assertTrustedSource(deps, provider, settings);
  return { provider, settings };
}

export async function createConnection(tx: TenantTx, actor: Actor, deps: IntegrationDeps, input: NewConnection): Promise<ConnectionRow> {
  const { provider, settings } = newSettings(deps, input);
  const id = newId();
  const sealed = await deps.keys.seal(sealContext(actor.orgId, id), settings.credentials as Record<string, unknown>);
  const everyMinutes = input.schedule === undefined ? DEFAULT_EVERY_MINUTES : (input.schedule?.every_minutes ?? null);
  await refuseTakenName(input.name ?? provider.name, () =>
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
  const row = await lockConnection(tx, actor.orgId, id);
  check(row);
  const { settings } = await changedSettings(deps, row, patch);
  const sealed = await deps.keys.seal(sealContext(actor.orgId, id), settings.credentials as Record<string, unknown>);
  const everyMinutes = patch.schedule === undefined ? row.every_minutes : (patch.schedule?.every_minutes ?? null);
  const enabled = patch.enabled ?? row.enabled;
  const configChanged = patch.config !== undefined && JSON.stringify(settings.config) !== JSON.stringify(row.config);
  const reschedule = everyMinutes !== row.every_minutes || (enabled && !row.enabled) || patch.credentials !== undefined || configChanged;
  await refuseTakenName(patch.name ?? row.name, () =>
    tx
      .updateTable('connections')
      .set({
        name: patch.name ?? row.name,
        enabled,
        config: JSON.stringify(settings.config),
        credentials: sealed.bytes,
        credentials_key: sealed.keyId,
        credential_marks: JSON.stringify(updatedMarks(row, patch, settings)),
        every_minutes: everyMinutes,
        ...(reschedule ? { next_run_at: everyMinutes === null ? null : sql<Date>`now()` } : {}),
        // Data collected with other settings does not show what is missing with these, so the next run is full.
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

/** The stored settings with the changes of a patch. Refuses what the service must not store or send. */
export async function changedSettings(
  deps: IntegrationDeps,
  row: ConnectionRow,
  patch: Pick<ConnectionPatch, 'config' | 'credentials'>,
): Promise<{ provider: Connector; settings: Settings }> {
  const provider = providerOf(deps.providers, row.provider);
  const stored = await openCredentials(deps.keys, row);
  const before = { config: row.config, credentials: stored } as Settings;
  // Stored settings that have become invalid must not prevent anybody from pausing or renaming the connection.
  if (patch.config === undefined && patch.credentials === undefined) return { provider, settings: before };
  const config = { ...(row.config as Record<string, unknown>), ...patch.config };
  const credentials = { ...stored, ...patch.credentials };
  // Clearing a field restores its default, if it has one.
  for (const values of [config, credentials]) for (const [name, value] of Object.entries(values)) if (value === null) delete values[name];
  const settings = checkedSettings(provider, { config, credentials }, deps.refusal);
  assertSecretsSupplied(provider, { before, after: settings, supplied: patch.credentials ?? {} });
  assertTrustedSource(deps, provider, settings);
  return { provider, settings };
}

interface Change {
  id: string;
  patch: ConnectionPatch;
  check: (current: ConnectionRow) => void;
}

/** Keeps the connection's findings and runs, erases its credentials and cancels its active run. */
export async function deleteConnection(tx: TenantTx, actor: Actor, id: string): Promise<void> {
  const row = await lockConnection(tx, actor.orgId, id);
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

export async function readConnection(tx: TenantTx, orgId: string, id: string): Promise<ConnectionRow> {
  const row = await selectConnection(tx, orgId, id).executeTakeFirst();
  if (!row) throw notFound('connection', id);
  return row;
}

/** Reads the connection and locks its row until the end of the transaction. */
async function lockConnection(tx: TenantTx, orgId: string, id: string): Promise<ConnectionRow> {
  const row = await selectConnection(tx, orgId, id).forUpdate().executeTakeFirst();
  if (!row) throw notFound('connection', id);
  return row;
}

function selectConnection(tx: TenantTx, orgId: string, id: string) {
  return tx.selectFrom('connections').selectAll().where('org_id', '=', orgId).where('id', '=', id).where('deleted_at', 'is', null);
}

/** Also finds a deleted connection, for objects that outlive it. */
export function findStoredConnection(tx: TenantTx, orgId: string, id: string): Promise<ConnectionRow | undefined> {
  return tx.selectFrom('connections').selectAll().where('org_id', '=', orgId).where('id', '=', id).executeTakeFirst();
}

/** The usable connections of one kind, oldest first. */
export function enabledConnections(tx: TenantTx, orgId: string, kind: ConnectionRow['kind']): Promise<ConnectionRow[]> {
  return tx
    .selectFrom('connections')
    .selectAll()
    .where('org_id', '=', orgId)
    .where('kind', '=', kind)
    .where('enabled', '=', true)
    .where('deleted_at', 'is', null)
    .orderBy('created_at')
    .orderBy('id')
    .execute();
}

export type ConnectionRow = Selectable<DB['connections']>;

export type ConnectionFilter = Pick<Static<typeof ConnectionQuery>, 'kind' | 'provider'>;

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

/** Encrypts all stored credentials with the newest key, so that the caller can delete the others. Returns their number. */
export async function resealCredentials(tx: Tx, keys: KeyRing): Promise<number> {
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
      .set({ credentials: sealed.bytes, credentials_key: sealed.keyId })
      .where('org_id', '=', row.org_id)
      .where('id', '=', row.id)
      .execute();
  }
  return rows.length;
}

function updatedMarks({ credential_marks }: ConnectionRow, { credentials = {} }: ConnectionPatch, settings: Settings): Record<string, unknown> {
  const marks = Object.entries({ ...(credential_marks as Record<string, unknown>), ...marksOf(credentials) });
  return Object.fromEntries(marks.filter(([name]) => Object.hasOwn(settings.credentials, name)));
}

function marksOf(credentials: Record<string, unknown>): Record<string, { updated_at: string; hint: string | null }> {
  const updatedAt = new Date().toISOString();
  return Object.fromEntries(
    Object.entries(credentials).flatMap(([name, value]) => {
      if (value === null || value === undefined) return [];
      const text = String(value);
      return [[name, { updated_at: updatedAt, hint: text.length >= 12 && !text.includes('\n') ? `…${text.slice(-4)}` : null }]];
    }),
  );
}

function assertTrustedSource({ mirrors }: IntegrationDeps, provider: Connector, settings: Settings): void {
  if (provider.kind !== 'enrichment') return;
  const defaults = defaultOrigins(provider, settings);
  const { origin } = new URL(provider.baseUrl(settings));
  if (defaults.includes(origin) || mirrors.includes(origin)) return;
  const detail = `uses ${origin}, which is not an address of ${provider.name}. The data would apply to every organization, so an operator must allow the address in RRS_ENRICHMENT_MIRRORS`;
  throw new AppError('validation_failed', `\`config\` ${detail}.`, { errors: [{ in: 'body', path: '/config', code: 'not_allowed', detail }] });
}

/** The origin that the connector uses if no URL is configured. */
function defaultOrigins(provider: Connector, { config, credentials }: Settings): string[] {
  const defaults = Object.fromEntries(
    Object.entries(config as Record<string, unknown>).map(([name, value]) => {
      const field = provider.config.properties[name] as { format?: string; default?: unknown } | undefined;
      return [name, field?.format === 'uri' ? field.default : value];
    }),
  );
  try {
    return [new URL(provider.baseUrl({ config: defaults, credentials } as Settings)).origin];
  } catch {
    return [];
  }
}

async function refuseTakenName(name: string, write: () => Promise<unknown>): Promise<void> {
  try {
    await write();
  } catch (error) {
    if (errorCodeOf(error) !== '23505') throw error;
    throw new AppError('conflict', `A connection named "${name}" already exists. Choose another name.`);
  }
}
