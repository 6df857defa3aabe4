import type { InboundMessage, Settings } from '@rrs/connectors';
import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { Database, TenantTx } from '../db/database.ts';
import type { App } from '../http/app.ts';
import { tooMany } from '../http/requests/access.ts';
import type { Verdict } from '../http/requests/rate-limit.ts';
import { Named, problems } from '../http/schemas.ts';
import { AppError } from '../shared/errors.ts';
import { openCredentials } from './connections/connections.ts';
import { findConnection } from './connections/inbound.ts';
import { type Providers, providerOf } from './connections/providers.ts';
import type { KeyRing } from './connections/secrets.ts';
import { ConnectionParams } from './schemas.ts';

export interface InboundDeps {
  db: Database;
  providers: Providers;
  keys: KeyRing;
  /** Called for tickets that a vendor reports as changed. Passed in because integrations must not import work items. */
  onTicketsChanged(tx: TenantTx, changed: { orgId: string; connectionId: string; externalIds: readonly string[] }): Promise<void>;
}

const LIMIT = 2 ** 20;

const Accepted = Named('InboundAccepted', { accepted: Type.Boolean({ description: 'Always true', examples: [true] }) });
const EXAMPLE = { file: '{"webhookEvent": "jira:issue_updated", "issue": {"id": "10024", "key": "SEC-24"}}' };

/** Receives vendors' webhooks. Vendors have no credential of ours: the signature made with the connection's webhook secret authenticates them. */
export function inboundRoute(deps: InboundDeps) {
  return (app: App): void => {
    void app.register(async (scope) => receive(scope, deps));
  };
}

async function receive(app: App, { db, providers, keys, onTicketsChanged }: InboundDeps): Promise<void> {
  // The signature covers the raw bytes, so the body is not parsed before the connector has checked it.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: LIMIT }, (_request, body: Buffer, done) => done(null, body));

  app.post(
    '/integrations/:id/inbound',
    {
      config: {
        access: 'public',
        upload: { description: "The vendor's webhook payload", fields: {}, example: EXAMPLE, mediaType: 'application/json', formless: true },
      },
      bodyLimit: LIMIT,
      schema: {
        operationId: 'receiveTicketMessage',
        summary: 'Receive a ticketing webhook',
        description:
          "Receives a webhook of the vendor. Use this URL when you configure the webhook there. The request must carry the vendor's signature, made with the webhook secret of the connection. The payload is only a hint: the service reads the ticket from the vendor again.",
        tags: ['Integrations'],
        params: ConnectionParams,
        response: { 202: Accepted, ...problems('not_found', 'unauthenticated', 'rate_limited') },
      },
    },
    async (request, reply) => {
      const connection = await db.withSystem((tx) => findConnection(tx, request.params.id));
      const connector = connection && providerOf(providers, connection.provider);
      if (!connection || connector?.kind !== 'ticketing' || !connector.inbound) {
        assertAllowed(app.failures.take(`inbound ${request.ip}`));
        throw new AppError('not_found', 'No connection receives webhooks at this URL. Remove the webhook, or connect the system again.');
      }
      // Customers of one vendor share its IP addresses: invalid requests for one connection must not block another.
      const sender = `inbound ${request.ip} ${connection.id}`;
      assertAllowed(app.failures.look(sender));
      const settings = { config: connection.config, credentials: await openCredentials(keys, connection) } as Settings;
      const message = connector.inbound(settings, messageOf(request));
      if (message === null) {
        app.failures.take(sender);
        throw new AppError('unauthenticated', 'The signature is invalid. Check that the webhook secret is the same on both sides.');
      }
      const { ticket } = message;
      const { org_id: orgId } = connection;
      if (ticket !== null) await db.withTenant({ orgId }, (tx) => onTicketsChanged(tx, { orgId, connectionId: connection.id, externalIds: [ticket] }));
      return reply.code(202).send({ accepted: true });
    },
  );
}

function assertAllowed({ allowed, seconds }: Verdict): void {
  if (!allowed) throw tooMany('Too many rejected webhook requests from your address.', seconds);
}

function messageOf({ headers, body }: FastifyRequest): InboundMessage {
  const flat = Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : value] as const);
  return { headers: Object.fromEntries(flat), body: Buffer.isBuffer(body) ? body : Buffer.alloc(0) };
}
