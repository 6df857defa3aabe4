import { type Static, Type } from 'typebox';
import { Nullable, Timestamp } from '../../http/schemas.ts';
import { reasonText } from '../reason-codes.ts';
import { shownAcceptance } from './acceptance.ts';
import { field } from './field.ts';
import { Acceptance, ReasonCode, WorkItemRef } from './shapes.ts';

/** Fields that say why a finding has its status and who works on it. */
export const statusFields = {
  status_reason: field({
    schema: Nullable(Type.String({ description: 'Reason for the last change of status, in words', examples: [null] })),
    columns: { status_reason: null },
    show: ({ status_reason, reason_code }) => reasonText(reason_code, status_reason),
    csv: { status_reason: (reason) => reason },
  }),
  reason_code: field({
    schema: Nullable(ReasonCode),
    columns: { reason_code: null },
    show: ({ reason_code }) => reason_code as Static<typeof ReasonCode> | null,
    csv: { reason_code: (code) => code },
  }),
  status_changed_at: field({
    schema: { ...Timestamp, description: 'When the status last changed' },
    columns: { status_changed_at: null },
    show: ({ status_changed_at }) => status_changed_at.toISOString(),
  }),
  acceptance: field({
    schema: Acceptance,
    columns: { acceptance_owner: null, acceptance_expires_at: null, compensating_control: null },
    show: (row, { decisions }) => shownAcceptance(row, decisions.get(row.id) ?? []),
    csv: {
      acceptance_owner: (acceptance) => acceptance?.owner,
      acceptance_expires_at: (acceptance) => acceptance?.expires_at,
      compensating_control: (acceptance) => acceptance?.compensating_control,
    },
  }),
  work_item_count: field({
    schema: Type.Integer({ minimum: 0, description: 'To how many work items the finding is linked', examples: [1] }),
    columns: {},
    show: ({ id }, { workItems }) => workItems.get(id)?.count ?? 0,
  }),
  work_items: field({
    schema: Type.Array(WorkItemRef, { description: 'The last three work items that the finding was linked to, the last one first' }),
    columns: {},
    show: ({ id }, { workItems }) => workItems.get(id)?.last ?? [],
  }),
};
