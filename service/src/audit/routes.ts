import type { Database } from '../db/database.ts';
import { presentPage } from '../db/pages.ts';
import type { App } from '../http/app.ts';
import { listRoute } from '../http/resource.ts';
import { listAuditEvents } from './list.ts';
import { type NamesOf, namedEvents } from './present.ts';
import { auditExportRoute } from './routes-export.ts';
import { AuditEventList, AuditEventQuery } from './schemas.ts';

export interface AuditDeps {
  db: Database;
  secret: Buffer;
  /** The names that objects have now. */
  namesOf: NamesOf;
}

export function auditRoutes({ db, secret, namesOf }: AuditDeps) {
  return (app: App): void => {
    listRoute(app, { db, secret }, '/audit-events', {
      access: 'audit:read',
      operationId: 'listAuditEvents',
      summary: 'List audit events',
      description:
        'Returns who changed which object, newest first. Every change writes its audit event in the same transaction. Audit events are never changed or deleted.',
      tag: 'Organization',
      query: AuditEventQuery,
      list: AuditEventList,
      read: async (tx, { actor, query, page }) => {
        const found = await listAuditEvents(tx, actor.orgId, query, page);
        return presentPage(found, await namedEvents(tx, actor.orgId, { rows: found.data, namesOf }));
      },
    });
    auditExportRoute(app, { db });
  };
}
