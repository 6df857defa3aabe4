import { type Static, Type } from 'typebox';
import { Id, Nullable, Timestamp } from '../../http/schemas.ts';
import { reasonText } from '../reason-codes.ts';
import { isOutdated, shownAcceptance } from './acceptance.ts';
import { field } from './field.ts';
import { Acceptance, Justification, ReasonCode } from './shapes.ts';

/** Fields that the single finding and the exports have in addition. */
export const detailFields = {
  weakness: field({
    schema: Type.String({ description: 'Identifier of the weakness: a vulnerability id, or the rule of the tool', examples: ['CVE-2021-44228'] }),
    columns: { weakness: null },
    show: ({ weakness }) => weakness,
    csv: { weakness: (weakness) => weakness },
  }),
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
    columns: { acceptance_owner: null, acceptance_expires_at: null },
    show: (row, { decisions }) => shownAcceptance(row, decisions.get(row.id) ?? []),
    csv: { acceptance_owner: (acceptance) => acceptance?.owner, acceptance_expires_at: (acceptance) => acceptance?.expires_at },
  }),
  decision_outdated: field({
    schema: Type.Boolean({
      description: 'Whether the finding is more severe than when it was decided on, or was listed as exploited since. Such a false positive stays one',
      examples: [false],
    }),
    columns: {},
    show: (row, { decisions }) => isOutdated(row, decisions.get(row.id) ?? []),
  }),
  merged_into: field({
    schema: Nullable({ ...Id, description: 'The finding that this one was merged into. It is no longer listed and does not change', examples: [null] }),
    columns: { merged_into: null },
    show: ({ merged_into }) => merged_into,
  }),
  justification: field({
    schema: Nullable(Justification),
    columns: { justification: null },
    show: ({ justification }) => justification,
    csv: { justification: (justification) => justification },
  }),
};
