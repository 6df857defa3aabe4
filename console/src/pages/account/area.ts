import type { Area } from '../../app/area.ts';

/** Pages for people who are not signed in. */
export const accountArea: Area = {
  routes: [
    { path: '/invitation', isPublic: true, load: async () => (await import('./invitation.tsx')).Invitation },
    { path: '/sign-in', isPublic: true, load: async () => (await import('./sign-in.tsx')).SignIn },
    { path: '/setup', isPublic: true, load: async () => (await import('./setup.tsx')).Setup },
  ],
};
