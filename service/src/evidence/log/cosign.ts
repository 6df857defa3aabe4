import type { Database, TenantTx } from '../../db/database.ts';
import type { Signers } from '../keys/keys.ts';
import { signCheckpoint } from './checkpoints.ts';
import { type LogRef, type LogState, latestCheckpoint, proveConsistency, readTransparencyLog, recordCheckpoint } from './transparency-log.ts';
import { submitTo, type Witness, type WitnessAnswer } from './witnesses.ts';

export interface Cosigning {
  db: Database;
  witnesses: readonly Witness[];
}

/** Asks all witnesses at once to confirm a recorded checkpoint, and stores their cosignatures. */
export async function cosign({ db, witnesses }: Cosigning, log: LogRef, { size, note }: { size: number; note: string }): Promise<WitnessAnswer[]> {
  const { orgId, epoch } = log;
  const answers = await Promise.all(
    witnesses.map(async (witness) => {
      const old = await db.withTenant(log, (tx) => confirmedSize(tx, log, { witness: witness.name, size }));
      const prove = (from: number) => db.withTenant(log, async (tx) => (await proveConsistency(tx, log, from, size)).hashes);
      const logSize = async () => (await db.withTenant(log, (tx) => readTransparencyLog(tx, orgId, epoch)))?.size ?? 0;
      return submitTo(witness, { note, size, old, prove, logSize });
    }),
  );
  const rows = answers.flatMap((answer) =>
    answer.outcome === 'cosigned' ? [{ org_id: orgId, epoch, size: String(size), witness: answer.witness, line: answer.line, cosigned_at: answer.at }] : [],
  );
  if (rows.length > 0)
    await db.withTenant(log, (tx) =>
      tx
        .insertInto('log_cosignatures')
        .values(rows)
        .onConflict((conflict) => conflict.doNothing())
        .execute(),
    );
  return answers;
}

/** The largest size, up to `size`, that the witness confirmed. */
async function confirmedSize(tx: TenantTx, { orgId, epoch }: LogRef, { witness, size }: { witness: string; size: number }) {
  const row = await tx
    .selectFrom('log_cosignatures')
    .select('size')
    .where('org_id', '=', orgId)
    .where('epoch', '=', epoch)
    .where('witness', '=', witness)
    .where('size', '<=', String(size))
    .orderBy('size', 'desc')
    .limit(1)
    .executeTakeFirst();
  return Number(row?.size ?? 0);
}

/** Shows the witnesses the latest checkpoint, so that a rewound database is noticed before anything is added to it. */
export async function compareWithWitnesses({ db, witnesses }: Cosigning, signers: Signers, log: LogState): Promise<WitnessAnswer[]> {
  if (witnesses.length === 0) return [];
  const known = await db.withTenant(log, (tx) => latestCheckpoint(tx, log));
  if (known !== null) return cosign({ db, witnesses }, log, known);
  const { root } = await db.withTenant(log, (tx) => proveConsistency(tx, log, 0, log.size));
  const checkpoint = await signCheckpoint(signers, { origin: log.origin, size: log.size, root });
  await db.withTenant(log, (tx) => recordCheckpoint(tx, log, checkpoint));
  return cosign({ db, witnesses }, log, checkpoint);
}

export type Contradiction = Extract<WitnessAnswer, { outcome: 'contradicted' }>;

export function contradictionIn(answers: readonly WitnessAnswer[]): Contradiction | null {
  return answers.find((answer): answer is Contradiction => answer.outcome === 'contradicted') ?? null;
}
