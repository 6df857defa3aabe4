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
  /** What it means that a ticket changed. Tickets know of connections and not the other way round, so it is handed in. */
  hear(tx: TenantTx, changed: { orgId: string; connectionId: string; externalIds: readonly string[] }): Promise<void>;
}

const LIMIT = 2 ** 20;

const Accepted = Named('InboundAccepted', { accepted: Type.Boolean({ examples: [true] }) });
const EXAMPLE = { file: '{"webhookEvent": "jira:issue_updated", "issue": {"id": "10024", "key": "SEC-24"}}' };

/** For vendors, which have no credential of ours: what they sign with the secret of the connection is the credential. */
export function inboundRoute(deps: InboundDeps) {
  return (app: App): void => {
    void app.register(async (scope) => receive(scope as unknown as App, deps));
  };
}

async function receive(app: App, { db, providers, keys, hear }: InboundDeps): Promise<void> {
  // A signature is about bytes: they stay as they came, and nothing parses them but the connector that checks it.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: LIMIT }, (_request, body: Buffer, done) => done(null, body));

  app.post(
    '/integrations/:id/inbound',
    {
      config: {
        access: 'public',
        upload: { description: 'As the vendor sends it', fields: {}, example: EXAMPLE, mediaType: 'application/json', formless: true },
      },
      bodyLimit: LIMIT,
      schema: {
        operationId: 'receiveTicketMessage',
        summary: 'Take a message of a ticketing system',
        description:
          "The address for the vendor's webhook. The message must carry the vendor's signature, made with the webhook secret of the connection; then it is accepted, whatever it is about. Nothing in it is believed: the ticket that it names, if any, is read again.",
        tags: ['Integrations'],
        params: ConnectionParams,
        response: { 202: Accepted, ...problems('not_found', 'unauthenticated', 'rate_limited') },
      },
    },
    async (request, reply) => {
      const connection = await db.withSystem((tx) => findConnection(tx, request.params.id));
      const connector = connection && providerOf(providers, connection.provider);
      if (!connection || connector?.kind !== 'ticketing' || !connector.inbound) {
        assertNotTooOften(app.failures.take(`inbound ${request.ip}`));
        throw new AppError('not_found', 'There is no connection at this address that takes messages. Remove the webhook, or connect the system again.');
      }
      // Customers of one vendor share its addresses: the mistakes of one must not keep the messages of another away.
      const from = `inbound ${request.ip} ${connection.id}`;
      assertNotTooOften(app.failures.look(from));
      const settings = { config: connection.config, credentials: await openCredentials(keys, connection) } as Settings;
      const heard = connector.inbound(settings, messageOf(request));
      if (heard === null) {
        app.failures.take(from);
        throw new AppError('unauthenticated', 'The signature does not hold. Check the webhook secret on both sides.');
      }
      const { ticket } = heard;
      const { org_id: orgId } = connection;
      if (ticket !== null) await db.withTenant({ orgId }, (tx) => hear(tx, { orgId, connectionId: connection.id, externalIds: [ticket] }));
      return reply.code(202).send({ accepted: true });
    },
  );
}

function assertNotTooOften({ allowed, seconds }: Verdict): void {
  if (!allowed) throw tooMany('Too many messages from your address that nobody could take.', seconds);
}

function messageOf({ headers, body }: FastifyRequest): InboundMessage {
  const plain = Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : value] as const);
  return { headers: Object.fromEntries(plain), body: Buffer.isBuffer(body) ? body : Buffer.alloc(0) };
}
