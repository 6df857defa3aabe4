import type { Role } from '@rrs/client';
import { term } from '../../parts/words.ts';

export const roleHelp: Readonly<Record<Role, string>> = {
  owner: 'Everything, including changes to the organization',
  admin: 'What an analyst can, and members, API keys, webhooks, integrations and the audit trail',
  analyst: 'What a viewer can, and imports, triage, assets, work items and evidence',
  viewer: 'Reads everything except API keys, webhooks and the audit trail',
  auditor: 'Reads what a viewer can, and the audit trail',
};

/** Nobody assigns a role above their own. */
const below: Readonly<Record<Role, readonly Role[]>> = {
  owner: ['owner', 'admin', 'analyst', 'viewer', 'auditor'],
  admin: ['admin', 'analyst', 'viewer', 'auditor'],
  analyst: ['analyst', 'viewer'],
  viewer: ['viewer'],
  auditor: ['auditor'],
};

export const assignable = (own: Role): { value: Role; label: string }[] => below[own].map((value) => ({ value, label: term(value) }));
