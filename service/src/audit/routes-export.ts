import { Readable } from 'node:stream';
import { csvCell } from '@rrs/evidence-format';
import { Type } from 'typebox';
import type { Database } from '../db/database.ts';
import type { App } from '../http/app.ts';
import { createShares } from '../http/requests/shares.ts';
import { media, problems } from '../http/schemas.ts';
import { type AuditEventRow, exportAuditEvents } from './list.ts';
import { type PresentedEvent, toAuditEvent } from './present.ts';
import { AuditExportQuery } from './schemas.ts';

const columns: Readonly<Record<string, (event: PresentedEvent) => string | null>> = {
  id: ({ id }) => id,
  occurred_at: ({ occurred_at }) => occurred_at,
  action: ({ action }) => action,
  object_type: ({ object }) => object.type,
  object_id: ({ object }) => object.id,
  actor_type: ({ actor }) => actor.type,
  actor_id: ({ actor }) => actor.id,
  actor_name: ({ actor }) => actor.name,
  person_id: ({ person }) => person?.id ?? null,
  person_name: ({ person }) => person?.name ?? null,
  before: ({ before }) => before && JSON.stringify(before),
  after: ({ after }) => after && JSON.stringify(after),
  request_id: ({ request_id }) => request_id,
  address: ({ address }) => address,
};

const csvLine = (cells: readonly (string | null)[]): string => `${cells.map((cell) => csvCell(cell)).join(',')}\r\n`;

const formats = {
  csv: {
    mediaType: 'text/csv',
    head: csvLine(Object.keys(columns)),
    line: (event: PresentedEvent) => csvLine(Object.values(columns).map((read) => read(event))),
  },
  ndjson: { mediaType: 'application/x-ndjson', head: '', line: (event: PresentedEvent) => `${JSON.stringify(event)}\n` },
} as const;

const content = {
  'text/csv': { schema: Type.String(), example: 'id,occurred_at,action\r\n01994f3e-8a10-7c31-9d3c-5f1f4b8f0a11,2026-11-15T09:30:00.000Z,api_key.created\r\n' },
  'application/x-ndjson': { schema: Type.String(), example: '{"id":"01994f3e-8a10-7c31-9d3c-5f1f4b8f0a11","action":"api_key.created"}\n' },
};

export function auditExportRoute(app: App, { db }: { db: Database }): void {
  const shares = createShares({ perOrganization: 4, perCredential: 2 });
  app.get(
    '/audit-events/export',
    {
      config: { access: 'audit:read', produces: Object.keys(content) },
      schema: {
        operationId: 'exportAuditEvents',
        summary: 'Export audit events',
        description:
          'Returns all audit events that match the filters as one file, oldest first. The file is streamed. Returns 429 if your organization already has several exports running.',
        tags: ['Organization'],
        querystring: AuditExportQuery,
        response: { 200: media('The exported file', content), ...problems('rate_limited') },
      },
    },
    async (request, reply) => {
      const release = shares.takeOrRefuse(request.actor, 'exports');
      reply.raw.once('close', release);
      const { format: name, ...filter } = request.query;
      const { mediaType, head, line } = formats[name];
      const pages = exportAuditEvents(db, request.actor.orgId, filter);
      // Read the first page before sending: an error here can still be reported as a problem.
      const first = await pages.next();
      reply.header('content-type', mediaType === 'text/csv' ? 'text/csv; charset=utf-8' : mediaType);
      reply.header('content-disposition', `attachment; filename="audit-trail-${new Date().toISOString().slice(0, 10)}.${name}"`);
      return reply.send(request.method === 'HEAD' ? '' : Readable.from(lines(first, pages, { head, line })));
    },
  );
}

interface Format {
  head: string;
  line: (event: PresentedEvent) => string;
}

async function* lines(first: IteratorResult<AuditEventRow[]>, rest: AsyncGenerator<AuditEventRow[]>, { head, line }: Format): AsyncGenerator<string> {
  if (head !== '') yield head;
  const text = (page: readonly AuditEventRow[]): string => page.map((row) => line(toAuditEvent(row))).join('');
  if (first.done) return;
  yield text(first.value);
  for await (const page of rest) yield text(page);
}
