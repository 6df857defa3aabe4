import { forgetOldDeliveries } from '../events/webhooks/deliveries.ts';
import { forgetOldAnswers } from '../http/requests/idempotency.ts';
import { declareJob, handle } from '../jobs/jobs.ts';
import { forgetEndedSessions } from '../organizations/sign-in/sessions.ts';

/** What has outlived its purpose, across organizations. */
export const housekeeping = handle(
  declareJob('housekeeping', { maxAttempts: 3 }),
  async (_payload, { db }) => {
    await db.withSystem(async (tx) => {
      await forgetOldAnswers(tx);
      await forgetEndedSessions(tx);
      await forgetOldDeliveries(tx);
    });
  },
  '7 * * * *',
);
