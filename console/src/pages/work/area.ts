import { TasklistIcon } from '@primer/octicons-react';
import type { Area } from '../../app/area.ts';
import { firstView } from './filters.ts';

export const workArea: Area = {
  entry: { label: 'Work', path: '/work', search: firstView, list: 'work_items', icon: TasklistIcon, command: 'go-work', permission: 'work_items:read' },
  routes: [
    { path: '/work', load: async () => (await import('./work-page.tsx')).WorkPage },
    { path: '/work/board', load: async () => (await import('./board/board-page.tsx')).BoardPage },
    { path: '/work/drift', load: async () => (await import('./drift-page.tsx')).DriftPage },
    { path: '/work/$id', load: async () => (await import('./item/item-page.tsx')).ItemPage },
  ],
};
