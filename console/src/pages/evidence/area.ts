import type { Area } from '../../app/area.ts';

/** Pages for people without an account, who received a package or a link to one. */
export const evidenceArea: Area = {
  routes: [
    { path: '/shared/$token', isPublic: true, load: async () => (await import('./public/shared-page.tsx')).SharedPage },
    { path: '/verify', isPublic: true, load: async () => (await import('./public/verify-page.tsx')).VerifyPage },
  ],
};
