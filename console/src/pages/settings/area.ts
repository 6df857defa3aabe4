import { GearIcon } from '@primer/octicons-react';
import type { Area } from '../../app/area.ts';

export const settingsArea: Area = {
  entry: { label: 'Settings', path: '/settings', icon: GearIcon, command: 'go-settings', permission: 'organization:read' },
  routes: [
    { path: '/settings', load: async () => (await import('./settings-home.tsx')).SettingsHome },
    { path: '/settings/profile', load: async () => (await import('./profile.tsx')).Profile },
    { path: '/settings/sessions', load: async () => (await import('./sessions.tsx')).Sessions },
    { path: '/settings/organization', load: async () => (await import('./organization/organization.tsx')).Organization },
    { path: '/settings/members', load: async () => (await import('./members/members.tsx')).Members },
    { path: '/settings/api-keys', load: async () => (await import('./api-keys.tsx')).ApiKeys },
    { path: '/settings/pipelines', load: async () => (await import('./pipelines.tsx')).Pipelines },
    { path: '/settings/webhooks', load: async () => (await import('./webhooks/webhooks.tsx')).Webhooks },
    { path: '/settings/webhooks/$id', load: async () => (await import('./webhooks/webhook.tsx')).WebhookPage },
    { path: '/settings/sources', load: async () => (await import('./sources.tsx')).Sources },
    { path: '/settings/aliases', load: async () => (await import('./aliases.tsx')).Aliases },
    { path: '/settings/usage', load: async () => (await import('./usage.tsx')).Usage },
    { path: '/settings/audit', load: async () => (await import('./audit/audit.tsx')).Audit },
  ],
};
