import { deleteExpiredResponses } from '../http/requests/idempotency.ts';
import { declareJob, handle } from '../jobs/jobs.ts';
import { forgetExpiredInvitations } from '../organizations/members/invitations.ts';
import { forgetEndedSessions } from '../organizations/sign-in/sessions.ts';

/** Deletes expired sessions, invitations and idempotency keys of all organizations. */
export const housekeeping = handle(
  declareJob('housekeeping', { maxAttempts: 3 }),
  async (_payload, { db }) => {
    await db.withSystem(async (tx) => {
      await deleteExpiredResponses(tx);
      await forgetEndedSessions(tx);
      await forgetExpiredInvitations(tx);
    });
  },
  { schedule: '7 * * * *' },
);
