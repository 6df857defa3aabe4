import { useSyncExternalStore } from 'react';

/** How a person wants the console to look and behave on this device. */
export interface Preferences {
  theme: 'system' | 'light' | 'dark';
  density: 'compact' | 'normal' | 'comfortable';
  /** Whether single letters are shortcuts (WCAG 2.1.4 asks for a way to switch them off). */
  letterKeys: 'on' | 'off';
  rail: 'open' | 'closed';
}

const defaults: Preferences = { theme: 'system', density: 'normal', letterKeys: 'on', rail: 'open' };
const names = Object.keys(defaults) as (keyof Preferences)[];
const listeners = new Set<() => void>();
let current = read();

function read(): Preferences {
  const stored = names.flatMap((name) => {
    const value = localStorage.getItem(`rrs-${name}`);
    return value === null ? [] : [[name, value]];
  });
  return { ...defaults, ...Object.fromEntries(stored) };
}

function apply(): void {
  const { theme, density } = current;
  const dark = theme === 'dark' || (theme === 'system' && matchMedia('(prefers-color-scheme: dark)').matches);
  document.documentElement.setAttribute('data-mantine-color-scheme', dark ? 'dark' : 'light');
  document.documentElement.setAttribute('data-density', density);
  for (const listener of listeners) listener();
}

export function setPreference<Name extends keyof Preferences>(name: Name, value: Preferences[Name]): void {
  // Listeners set it again: Mantine stores each theme that it is notified of.
  if (current[name] === value) return;
  localStorage.setItem(`rrs-${name}`, value);
  current = read();
  apply();
}

export const preferences = (): Preferences => current;

export function onPreferences(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function usePreferences(): Preferences {
  return useSyncExternalStore(onPreferences, preferences);
}

// Other tabs and the system can change what applies here.
addEventListener('storage', () => {
  current = read();
  apply();
});
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', apply);
apply();
