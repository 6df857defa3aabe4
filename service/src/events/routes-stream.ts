import { Readable } from 'node:stream';
import { Type } from 'typebox';
import type { App } from '../http/app.ts';
import { preferredWait } from '../http/requests/prefer.ts';
import { createShares } from '../http/requests/shares.ts';
import { media, problems } from '../http/schemas.ts';
import { mayReceive } from './audience.ts';
import { toCloudEvent } from './cloud-event.ts';
import type { EventDeps } from './deps.ts';
import { matches } from './patterns.ts';
import { EventStreamHeaders, EventStreamQuery } from './schemas.ts';
import { createEventStream } from './stream/event-stream.ts';
import { serverSentEvents } from './stream/server-sent-events.ts';

const MEDIA_TYPE = 'text/event-stream';
/** A connection on which nothing could be written for this long is closed. */
const STALLED_MS = 60_000;

const example = `retry: 3000

id: 01994f3e-8a10-7c31-9d3c-5f1f4b8f0a11
data: {"specversion":"1.0","id":"01994f3e-8a10-7c31-9d3c-5f1f4b8f0a11","source":"https://rrs.example/organizations/01994f3e-8a10-7c31-9d3c-5f1f4b8f0a12","type":"finding.created","subject":"01994f3e-8a10-7c31-9d3c-5f1f4b8f0a13","time":"2026-11-15T09:30:00.000Z","datacontenttype":"application/json","data":{"title":"Admin page without a password"}}

: heartbeat

`;

export function streamRoutes(app: App, { db, publicUrl }: EventDeps): void {
  const eventStream = createEventStream(db);
  const shares = createShares({ perOrganization: 20, perCredential: 5 });
  app.addHook('preClose', (done) => {
    eventStream.close();
    done();
  });

  app.get(
    '/events',
    {
      config: { access: 'events:read', produces: [MEDIA_TYPE] },
      schema: {
        operationId: 'streamEvents',
        summary: 'Stream events',
        description:
          'Streams the events of your organization as server-sent events. Each event is a CloudEvents 1.0 document in JSON. You receive the events whose subject your role may read. With `Last-Event-ID` the stream starts with the first event after it, so that none is missed. A comment every 15 seconds keeps the connection alive. The stream ends when the service stops or the credential becomes invalid. Reconnect then, as browsers do automatically. With `Prefer: wait=N` the stream ends after N seconds (at most 60). `wait=0` returns the missed events and ends. Each process serves at most 5 streams for a credential, 20 for an organization and 100 in all.',
        tags: ['Webhooks and events'],
        querystring: EventStreamQuery,
        headers: EventStreamHeaders,
        response: {
          200: media('Stream of events', { [MEDIA_TYPE]: { schema: Type.String(), example } }),
          ...problems('not_found', 'rate_limited'),
        },
      },
    },
    async (request, reply) => {
      const { actor } = request;
      const { types } = request.query;
      const lastEventId = request.headers['last-event-id']?.toLowerCase() ?? null;
      reply.raw.once('close', shares.takeOrRefuse(actor, 'event streams'));
      const subscription = eventStream.subscribe(actor.orgId);
      try {
        const after = await subscription.start(lastEventId);
        reply.header('content-type', `${MEDIA_TYPE}; charset=utf-8`);
        // A stream ends when the client disconnects or the service stops. The connection is not used again in either case.
        reply.header('connection', 'close');
        // nginx and others would otherwise buffer the response.
        reply.header('x-accel-buffering', 'no');
        if (request.method === 'HEAD') {
          subscription.close();
          return reply.send('');
        }
        reply.raw.once('close', () => subscription.close());
        reply.raw.setTimeout(STALLED_MS, () => reply.raw.destroy());
        const stream = serverSentEvents({
          subscription,
          after,
          seconds: preferredWait(request, Number.POSITIVE_INFINITY),
          isWanted: (type) => mayReceive(actor.role, type) && (types === undefined || matches(types, type)),
          isStillAllowed: () => app.isStillAllowed(request),
          toCloudEvent: (event) => toCloudEvent(publicUrl(), actor.orgId, event),
        });
        return reply.send(Readable.from(stream, { highWaterMark: 1 }));
      } catch (error) {
        subscription.close();
        throw error;
      }
    },
  );
}
