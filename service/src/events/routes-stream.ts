import { Readable } from 'node:stream';
import { Type } from 'typebox';
import type { App } from '../http/app.ts';
import { preferredWait } from '../http/requests/prefer.ts';
import { problems } from '../http/schemas.ts';
import { mayHear } from './audience.ts';
import { toCloudEvent } from './cloud-event.ts';
import type { EventDeps } from './deps.ts';
import { matches } from './patterns.ts';
import { EventStreamHeaders, EventStreamQuery } from './schemas.ts';
import { createHub } from './stream/event-stream.ts';
import { streamEvents } from './stream/read.ts';

const MEDIA_TYPE = 'text/event-stream';
/** A reader to whom nothing could be written for so long is taken for gone. */
const STALLED_MS = 60_000;

const example = `retry: 3000

id: 01994f3e-8a10-7c31-9d3c-5f1f4b8f0a11
data: {"specversion":"1.0","id":"01994f3e-8a10-7c31-9d3c-5f1f4b8f0a11","source":"https://rrs.example/organizations/01994f3e-8a10-7c31-9d3c-5f1f4b8f0a12","type":"finding.created","subject":"01994f3e-8a10-7c31-9d3c-5f1f4b8f0a13","time":"2026-11-15T09:30:00.000Z","datacontenttype":"application/json","data":{"title":"Admin page without a password"}}

: still here

`;

export function streamRoutes(app: App, { db, publicUrl }: EventDeps): void {
  const hub = createHub(db);
  app.addHook('preClose', (done) => {
    hub.close();
    done();
  });

  app.get(
    '/events',
    {
      config: { access: 'events:read', produces: [MEDIA_TYPE] },
      schema: {
        operationId: 'streamEvents',
        summary: 'Follow events',
        description:
          'Server-sent events: what happens in your organization, as CloudEvents 1.0 in JSON, as far as your role may read what they are about. With `Last-Event-ID` the stream begins with exactly what was missed, in order. A comment every 15 seconds shows that it is alive. It ends when the service stops or the credential counts no more; connect again then, as browsers do by themselves. With `Prefer: wait=N` it ends after that many seconds (60 at the most); `wait=0` fetches what was missed and no more. A process serves 100 readers at once.',
        tags: ['Webhooks and events'],
        querystring: EventStreamQuery,
        headers: EventStreamHeaders,
        response: { 200: { description: 'The stream', content: { [MEDIA_TYPE]: { schema: Type.String(), example } } } as never, ...problems('not_found') },
      },
    },
    async (request, reply) => {
      const { actor, query } = request;
      const { types } = query as { types?: string[] };
      const lastEventId = (request.headers['last-event-id'] as string | undefined)?.toLowerCase() ?? null;
      const seat = hub.join(actor.orgId);
      try {
        const after = await seat.begin(lastEventId);
        reply.header('content-type', `${MEDIA_TYPE}; charset=utf-8`);
        // A stream ends when its reader has had enough or the service stops: neither asks for anything more on this connection.
        reply.header('connection', 'close');
        // Some proxies would gather it before they pass it on.
        reply.header('x-accel-buffering', 'no');
        if (request.method === 'HEAD') {
          seat.leave();
          return reply.send('' as never);
        }
        reply.raw.once('close', () => seat.leave());
        reply.raw.setTimeout(STALLED_MS, () => reply.raw.destroy());
        const stream = streamEvents({
          seat,
          after,
          seconds: preferredWait(request, Number.POSITIVE_INFINITY),
          isWanted: (type) => mayHear(actor.role, type) && (types === undefined || matches(types, type)),
          isStillAllowed: () => app.isStillAllowed(request),
          toCloudEvent: (event) => toCloudEvent(publicUrl(), actor.orgId, event),
        });
        return reply.send(Readable.from(stream, { highWaterMark: 1 }) as never);
      } catch (error) {
        seat.leave();
        throw error;
      }
    },
  );
}
