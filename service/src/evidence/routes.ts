import type { App } from '../http/app.ts';
import type { EvidenceDeps } from './deps.ts';
import { artifactRoutes } from './routes-artifacts.ts';
import { keyRoutes } from './routes-keys.ts';
import { packageRoutes } from './routes-packages.ts';
import { sharedPackageRoutes, shareLinkRoutes } from './routes-share-links.ts';
import { evidenceStatsRoutes } from './routes-stats.ts';
import { transparencyLogRoutes } from './routes-transparency-log.ts';
import { verifyRoutes } from './routes-verify.ts';

export function evidenceRoutes(deps: EvidenceDeps) {
  return (app: App): void => {
    artifactRoutes(app, deps);
    transparencyLogRoutes(app, deps);
    keyRoutes(app, deps);
    packageRoutes(app, deps);
    shareLinkRoutes(app, deps);
    sharedPackageRoutes(app, deps);
    verifyRoutes(app, deps);
    evidenceStatsRoutes(app, deps);
  };
}
