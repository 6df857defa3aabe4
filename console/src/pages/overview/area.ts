import { PulseIcon } from '@primer/octicons-react';
import type { Area } from '../../app/area.ts';

export const overviewArea: Area = {
  entry: { label: 'Overview', path: '/', icon: PulseIcon, command: 'go-overview', permission: 'findings:read' },
  routes: [{ path: '/', load: async () => (await import('./overview.tsx')).Overview }],
};
