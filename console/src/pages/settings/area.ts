import { GearIcon } from '@primer/octicons-react';
import type { Area } from '../../app/area.ts';

export const settingsArea: Area = {
  entry: { label: 'Settings', path: '/settings', icon: GearIcon, command: 'go-settings', permission: 'organization:read' },
  routes: [
    { path: '/settings', load: async () => (await import('./settings-home.tsx')).SettingsHome },
    { path: '/settings/profile', load: async () => (await import('./profile.tsx')).Profile },
  ],
};
