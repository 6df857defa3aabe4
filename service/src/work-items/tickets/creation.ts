import { ConnectorError } from '@rrs/connectors';
import type { LeasedTicket } from './lease.ts';

/** Vendors' searches show a new ticket only after a while, and Jira Cloud documents no limit. */
const SEARCH_LAG_MS = 120_000;
const SEARCH_AGAIN_MS = 20_000;

/** The vendor was asked to create the ticket and did not confirm it, and its search may not show the ticket yet. */
export class CreationUnconfirmed extends ConnectorError {
  readonly retryAt: Date;
  constructor(name: string, until: Date) {
    super(
      'unavailable',
      `${name} did not confirm that it created the ticket. The service searches for it until ${until.toISOString().slice(11, 16)} UTC before it creates another one.`,
    );
    this.retryAt = new Date(Math.min(until.getTime(), Date.now() + SEARCH_AGAIN_MS));
  }
}

/** Fails while a ticket that an earlier attempt created could still be missing from the vendor's search. */
export function assertSearchable({ ticket, connection }: LeasedTicket): void {
  if (ticket.creating_at === null) return;
  const until = new Date(ticket.creating_at.getTime() + SEARCH_LAG_MS);
  if (until.getTime() > Date.now()) throw new CreationUnconfirmed(connection.name, until);
}
