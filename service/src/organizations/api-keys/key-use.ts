import { sql } from 'kysely';
import type { Database } from '../../db/database.ts';

const FLUSH_MS = 5_000;

/** Collects in memory when keys were last used and writes it in batches, so that requests do not wait for the write. */
export function createKeyUse(db: Database, onError: (error: unknown) => void) {
  const used = new Map<string, { orgId: string; at: Date }>();

  const flush = async (): Promise<void> => {
    if (used.size === 0) return;
    const uses = [...used].map(([id, { orgId, at }]) => ({ org_id: orgId, id, at }));
    used.clear();
    await db.withSystem(async (tx) => {
      // Locked keys are skipped until their next use: two replicas that wait for each other's rows would deadlock.
      await sql`
        with used as (
          select k.org_id, k.id, used.at
          from jsonb_to_recordset(${JSON.stringify(uses)}::jsonb) as used (org_id uuid, id uuid, at timestamptz)
          join api_keys k on k.org_id = used.org_id and k.id = used.id
          where k.last_used_at is null or k.last_used_at < used.at
          for no key update of k skip locked
        )
        update api_keys set last_used_at = used.at from used where api_keys.org_id = used.org_id and api_keys.id = used.id`.execute(tx);
    });
  };
  const timer = setInterval(() => flush().catch(onError), FLUSH_MS);
  timer.unref();

  return {
    note(orgId: string, id: string, at = new Date()): void {
      used.set(id, { orgId, at });
    },
    async close(): Promise<void> {
      clearInterval(timer);
      await flush();
    },
  };
}

export type KeyUse = ReturnType<typeof createKeyUse>;
