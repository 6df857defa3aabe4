import { PlugIcon } from '@primer/octicons-react';
import type { Area } from '../../app/area.ts';

export const integrationsArea: Area = {
  entry: { label: 'Integrations', path: '/integrations', icon: PlugIcon, command: 'go-integrations', permission: 'integrations:read' },
  routes: [
    { path: '/integrations', load: async () => (await import('./integrations-page.tsx')).IntegrationsPage },
    { path: '/integrations/new', load: async () => (await import('./catalog-page.tsx')).CatalogPage },
    { path: '/integrations/new/$provider', load: async () => (await import('./connect-page.tsx')).ConnectPage },
    { path: '/integrations/$id', load: async () => (await import('./connection-page.tsx')).ConnectionPage },
    { path: '/integrations/$id/edit', load: async () => (await import('./edit-page.tsx')).EditPage },
    { path: '/integrations/$id/runs/$run', load: async () => (await import('./run-page.tsx')).RunPage },
  ],
};
