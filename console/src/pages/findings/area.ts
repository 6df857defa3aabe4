import { ShieldIcon } from '@primer/octicons-react';
import type { Area } from '../../app/area.ts';

export const findingsArea: Area = {
  entry: {
    label: 'Findings',
    path: '/findings',
    search: { status: 'open,in_progress', sort: '-risk_score' },
    list: 'findings',
    icon: ShieldIcon,
    command: 'go-findings',
    permission: 'findings:read',
  },
  routes: [
    { path: '/findings', load: async () => (await import('./list/findings-page.tsx')).FindingsPage },
    { path: '/findings/$id', load: async () => (await import('./detail/finding-page.tsx')).FindingPage },
  ],
};
