import { UploadIcon } from '@primer/octicons-react';
import type { Area } from '../../app/area.ts';

export const importsArea: Area = {
  entry: { label: 'Imports', path: '/imports', icon: UploadIcon, command: 'go-imports', permission: 'imports:read' },
  routes: [
    { path: '/imports', load: async () => (await import('./imports-page.tsx')).ImportsPage },
    { path: '/imports/$id', load: async () => (await import('./import-page.tsx')).ImportPage },
  ],
};
