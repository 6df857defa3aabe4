import type { Static } from 'typebox';
import type { Database, SystemTx } from '../../db/database.ts';
import { type Principal, systemActor } from '../../shared/actor.ts';
import { AppError } from '../../shared/errors.ts';
import { newId } from '../../shared/ids.ts';
import { hashToken, mintToken, organizationOf } from '../api-keys/tokens.ts';
import { addMember } from '../members/members.ts';
import { lockOrganization, readOrganization } from '../organization.ts';
import type { SetupBody } from '../schemas-invitations.ts';
import { hashPassword } from './passwords.ts';
import { actorOf, type Caller, openSession } from './sessions.ts';

/** Creates the key with which the first person becomes an owner. It ends when the organization gets a member, in whatever way. */
export async function createSetupKey(tx: SystemTx, orgId: string): Promise<string> {
  const { token, hash } = mintToken('stp', orgId);
  await tx.insertInto('invitations').values({ org_id: orgId, id: newId(), member_id: null, token_hash: hash, created_by: 'first start' }).execute();
  return token;
}

const PENDING = 'select exists (select from invitations where member_id is null) as pending';

/** Whether somebody still has to use the setup key. It never becomes true again. */
export function watchSetup(db: Database): () => Promise<boolean> {
  let isDone = false;
  return async () => {
    if (isDone) return false;
    const [row] = await db.systemQuery<{ pending: boolean }>('setup_pending', PENDING, []);
    isDone = row?.pending === false;
    return !isDone;
  };
}

/** Whether the key can still be used. */
export async function isSetupKey(db: Database, key: string): Promise<boolean> {
  const orgId = organizationOf('stp', key);
  if (orgId === null) return false;
  const found = await db.withTenant({ orgId }, (tx) =>
    tx
      .selectFrom('invitations')
      .select('id')
      .where('org_id', '=', orgId)
      .where('member_id', 'is', null)
      .where('token_hash', '=', hashToken(key))
      .executeTakeFirst(),
  );
  return found !== undefined;
}

/** Creates the first owner and opens a session. */
export async function setUp(
  db: Database,
  { key, email, name, password }: Static<typeof SetupBody>,
  { caller, hours }: { caller: Caller; hours: number },
): Promise<{ token: string; principal: Principal }> {
  const orgId = organizationOf('stp', key);
  if (orgId === null || !(await isSetupKey(db, key))) throw invalidKey();
  const passwordHash = await hashPassword(password);
  return db.withTenant({ orgId }, async (tx) => {
    await lockOrganization(tx, orgId, 'exclusive');
    const used = await tx
      .deleteFrom('invitations')
      .where('org_id', '=', orgId)
      .where('member_id', 'is', null)
      .where('token_hash', '=', hashToken(key))
      .returning('id')
      .executeTakeFirst();
    if (!used) throw invalidKey();
    const setup = { ...systemActor(orgId, 'setup'), requestId: caller.id, address: caller.ip };
    const member = await addMember(tx, setup, { email, name, role: 'owner', passwordHash });
    const actor = actorOf({ ...member, org_id: orgId }, caller);
    const session = await openSession(tx, actor, { method: 'password', hours, caller });
    const organization = await readOrganization(tx, orgId);
    return { token: session.token, principal: { actor, organization, email: member.email, expiresAt: session.expiresAt, passwordChosenBy: null } };
  });
}

function invalidKey(): AppError {
  return new AppError(
    'not_found',
    'This setup key is unknown or was used, or the organization has members already. Sign in, or ask the operator to run "rrs-server member add".',
  );
}
