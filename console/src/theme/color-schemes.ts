import type { MantineColorSchemeManager } from '@mantine/core';
import { onPreferences, preferences, setPreference } from './preferences.ts';

const named = { system: 'auto', light: 'light', dark: 'dark' } as const;
let unsubscribe = (): void => {};

/** Mantine sets the attribute of the page from it. The preferences are the only place that stores the choice. */
export const colorSchemes: MantineColorSchemeManager = {
  get: () => named[preferences().theme],
  set: (value) => setPreference('theme', value === 'auto' ? 'system' : value),
  subscribe: (onUpdate) => {
    unsubscribe = onPreferences(() => onUpdate(named[preferences().theme]));
  },
  unsubscribe: () => unsubscribe(),
  clear: () => setPreference('theme', 'system'),
};
