import { ServerIcon } from '@primer/octicons-react';
import type { Area } from '../../app/area.ts';

export const assetsArea: Area = {
  entry: {
    label: 'Assets',
    path: '/assets',
    search: { retired: 'false', sort: '-max_risk' },
    list: 'assets',
    icon: ServerIcon,
    command: 'go-assets',
    permission: 'assets:read',
  },
  routes: [
    { path: '/assets', load: async () => (await import('./assets-page.tsx')).AssetsPage },
    { path: '/assets/$id', load: async () => (await import('./asset-page.tsx')).AssetPage },
  ],
};
