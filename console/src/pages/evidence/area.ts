import { ShieldCheckIcon } from '@primer/octicons-react';
import type { Area } from '../../app/area.ts';

/** Packages and their proofs. Two of its pages are for people without an account. */
export const evidenceArea: Area = {
  entry: { label: 'Evidence', path: '/evidence', icon: ShieldCheckIcon, command: 'go-evidence', permission: 'evidence:read' },
  routes: [
    { path: '/evidence', load: async () => (await import('./packages/packages-page.tsx')).PackagesPage },
    { path: '/evidence/new', load: async () => (await import('./packages/new-package-page.tsx')).NewPackagePage },
    { path: '/evidence/log', load: async () => (await import('./log/log-page.tsx')).LogPage },
    { path: '/evidence/keys', load: async () => (await import('./log/keys-page.tsx')).KeysPage },
    { path: '/evidence/$id', load: async () => (await import('./packages/package-page.tsx')).PackagePage },
    { path: '/shared/$token', isPublic: true, load: async () => (await import('./public/shared-page.tsx')).SharedPage },
    { path: '/verify', isPublic: true, load: async () => (await import('./public/verify-page.tsx')).VerifyPage },
  ],
};
