import { openDatabase } from '../../db/database.ts';
import { builtIn } from '../../integrations/connections/providers.ts';
import { openKeyRing } from '../../integrations/connections/secrets.ts';
import { ticketLimits } from '../../integrations/connections/ticketing.ts';
import { createGuard } from '../../net/addresses.ts';
import { createOutbound } from '../../net/request.ts';
import { ticketHandler } from '../../work-items/handlers.ts';

/** Syncs one ticket, for the test that kills the process while the vendor creates it. */
const [url = '', keys = '', orgId = '', ticketId = ''] = process.argv.slice(2);

const handler = ticketHandler({
  providers: builtIn,
  keys: openKeyRing(keys),
  sender: createOutbound({ guard: createGuard(['127.0.0.0/8']) }),
  limits: ticketLimits,
  wait: async () => {},
  publicUrl: () => 'https://rrs.example',
});
const quiet = { info: () => {}, error: () => {} };
await handler.run(
  { org_id: orgId, ticket_id: ticketId },
  { db: openDatabase({ url, poolSize: 2 }), log: quiet, signal: new AbortController().signal, lastAttempt: true },
);
