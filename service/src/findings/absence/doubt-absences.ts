import { sql } from 'kysely';
import type { TenantTx } from '../../db/database.ts';

/** Lets a later complete scan replace those that no longer showed the findings, because evidence does not believe them. */
export async function doubtAbsences(tx: TenantTx, orgId: string, ids: readonly string[]): Promise<void> {
  await sql`
    update sightings s set doubted = true
    where s.org_id = ${orgId} and s.finding_id = any(${ids as string[]}::uuid[]) and s.state = 'absent' and s.absence = 'gone' and not s.doubted`.execute(tx);
}
