import { sql } from 'kysely';
import type { TenantTx } from '../../db/database.ts';
import type { Actor } from '../../shared/actor.ts';
import { invalidField } from '../../shared/errors.ts';
import { MOST_PREFERENCE_BYTES } from './limits.ts';
import { personKey } from './views.ts';

export type Preferences = Record<string, unknown>;

export async function readPreferences(tx: TenantTx, actor: Actor): Promise<Preferences> {
  const stored = await tx.selectFrom('preferences').select('value').where('org_id', '=', actor.orgId).where('person', '=', personKey(actor)).executeTakeFirst();
  return stored ? (JSON.parse(stored.value) as Preferences) : {};
}

export async function replacePreferences(tx: TenantTx, actor: Actor, preferences: Preferences): Promise<Preferences> {
  const value = JSON.stringify(preferences);
  const bytes = Buffer.byteLength(value);
  if (bytes > MOST_PREFERENCE_BYTES) {
    const detail = `The preferences have ${bytes.toLocaleString('en')} bytes. At most ${MOST_PREFERENCE_BYTES.toLocaleString('en')} are allowed.`;
    throw invalidField({ in: 'body', path: '', code: 'too_large', detail });
  }
  await sql`
    insert into preferences (org_id, person, value) values (${actor.orgId}, ${personKey(actor)}, ${value})
    on conflict (org_id, person) do update set value = excluded.value, updated_at = now()`.execute(tx);
  return preferences;
}
