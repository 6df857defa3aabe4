import type { App } from '../http/app.ts';
import type { EvidenceDeps } from './deps.ts';
import { artifactRoutes } from './routes-artifacts.ts';
import { keyRoutes } from './routes-keys.ts';
import { logRoutes } from './routes-log.ts';
import { packageRoutes } from './routes-packages.ts';
import { sharedRoutes, shareLinkRoutes } from './routes-shared.ts';
import { evidenceStatsRoutes } from './routes-stats.ts';
import { verifyRoutes } from './routes-verify.ts';

export function evidenceRoutes(deps: EvidenceDeps) {
  return (app: App): void => {
    artifactRoutes(app, deps);
    logRoutes(app, deps);
    keyRoutes(app, deps);
    packageRoutes(app, deps);
    shareLinkRoutes(app, deps);
    sharedRoutes(app, deps);
    verifyRoutes(app, deps);
    evidenceStatsRoutes(app, deps);
  };
}
