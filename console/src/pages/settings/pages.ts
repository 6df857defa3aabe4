import type { Permission } from '../../api/session.ts';

/** The pages of the settings, in the order of their navigation. People see those that they may read. */
export const pages: readonly { label: string; path: string; permission: Permission | null }[] = [
  { label: 'Profile', path: '/settings/profile', permission: null },
  { label: 'Sessions', path: '/settings/sessions', permission: null },
  { label: 'Organization', path: '/settings/organization', permission: 'organization:read' },
  { label: 'Members', path: '/settings/members', permission: 'members:read' },
  { label: 'API keys', path: '/settings/api-keys', permission: 'api_keys:read' },
  { label: 'Pipelines', path: '/settings/pipelines', permission: 'api_keys:read' },
  { label: 'Webhooks', path: '/settings/webhooks', permission: 'webhooks:read' },
  { label: 'Sources', path: '/settings/sources', permission: 'findings:read' },
  { label: 'Aliases', path: '/settings/aliases', permission: 'findings:read' },
  { label: 'Usage', path: '/settings/usage', permission: 'organization:read' },
  { label: 'Audit trail', path: '/settings/audit', permission: 'audit:read' },
];
