import type { App } from '../http/app.ts';
import type { OrganizationDeps } from './deps.ts';
import { apiKeyRoutes } from './routes-api-keys.ts';
import { invitationRoutes } from './routes-invitations.ts';
import { meRoutes } from './routes-me.ts';
import { memberRoutes } from './routes-members.ts';
import { tenantRoutes } from './routes-organization.ts';
import { signInRoutes } from './routes-sign-in.ts';
import { viewRoutes } from './routes-views.ts';

export function organizationRoutes(deps: OrganizationDeps) {
  return (app: App): void => {
    signInRoutes(app, deps);
    meRoutes(app, deps);
    tenantRoutes(app, deps);
    memberRoutes(app, deps);
    invitationRoutes(app, deps);
    apiKeyRoutes(app, deps);
    viewRoutes(app, deps);
  };
}
