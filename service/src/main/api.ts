import { assetRoutes } from '../assets/routes.ts';
import { auditRoutes } from '../audit/routes.ts';
import type { BlobStore } from '../blobs/blobs.ts';
import { commentRoutes } from '../comments/routes.ts';
import type { Database } from '../db/database.ts';
import { REQUEST_LIMITS } from '../db/limits.ts';
import { eventRoutes } from '../events/routes.ts';
import { followWithPackages } from '../evidence/packages/supersede.ts';
import { openPreviews } from '../evidence/preview/previews.ts';
import { evidenceRoutes } from '../evidence/routes.ts';
import { wellKnownKeys } from '../evidence/routes-keys.ts';
import { sharedPackageLink } from '../evidence/routes-share-links.ts';
import { openExports } from '../findings/export/exports.ts';
import { followAliases } from '../findings/identity-changes/aliases/follow-aliases.ts';
import { followAsset } from '../findings/identity-changes/follow-asset.ts';
import { findingRoutes } from '../findings/routes.ts';
import { FilterBody } from '../findings/schemas-bulk.ts';
import { type App, createApp } from '../http/app.ts';
import { type ConsoleOptions, installConsole } from '../http/console/console.ts';
import { installPages } from '../http/openapi/docs-pages.ts';
import type { Authenticate } from '../http/requests/access.ts';
import { builtIn } from '../integrations/connections/providers.ts';
import { openKeyRing } from '../integrations/connections/secrets.ts';
import { integrationRoutes } from '../integrations/routes.ts';
import { inboundRoute } from '../integrations/routes-inbound.ts';
import type { Outbound } from '../net/request.ts';
import type { KeyUse } from '../organizations/api-keys/key-use.ts';
import type { PublicFacts } from '../organizations/deps.ts';
import { organizationRoutes } from '../organizations/routes.ts';
import { OIDC_PATH } from '../organizations/routes-sign-in.ts';
import { createAuthenticate } from '../organizations/sign-in/authenticate.ts';
import { openIdentityProvider } from '../organizations/sign-in/identity-provider.ts';
import { createPipelineAuthenticate } from '../pipelines/authenticate.ts';
import { pipelineRoutes } from '../pipelines/routes.ts';
import { namesOfObjects } from '../search/object-names.ts';
import { searchRoutes } from '../search/routes.ts';
import { systemClock } from '../shared/clock.ts';
import { vulnerabilityRoutes } from '../vulnerabilities/routes.ts';
import { followFindings } from '../work-items/items/follow-findings.ts';
import { workItemRoutes } from '../work-items/routes.ts';
import { queueTicketReads } from '../work-items/tickets/jobs.ts';
import type { Config } from './config.ts';
import { readUsage } from './growth/usage.ts';
import { type Log, version } from './log.ts';
import { installHealth, installMetrics, type OperationsOptions, observeRequests } from './operations.ts';
import { keysDir } from './storage.ts';

export interface ApiOptions {
  config: Config;
  db: Database;
  /** Where the database is, for child processes that open their own connection. */
  databaseUrl: string;
  log: Log;
  /** Signs cursors and encrypts stored responses. The same on every replica. */
  secret: Buffer;
  keyUse: KeyUse;
  blobs: BlobStore;
  outbound: Outbound;
  publicUrl: () => string;
  operations: OperationsOptions;
  /** `null` serves the API without the console. */
  console: ConsoleOptions | null;
  prepare?: (app: App) => Promise<void>;
}

/** Updates work items and evidence packages after a change of findings, in the API and in jobs. */
export const follower = followWithPackages(followFindings);

/** Creates the HTTP API. A new feature takes one line under /api/v1. */
export async function createApi({
  config,
  db: unlimited,
  databaseUrl,
  log,
  secret,
  keyUse,
  blobs,
  outbound,
  publicUrl,
  operations,
  console,
  prepare,
}: ApiOptions): Promise<App> {
  const db = unlimited.limitedTo(REQUEST_LIMITS);
  const identityProvider = openIdentityProvider({
    issuer: config.RRS_OIDC_ISSUER,
    audience: config.RRS_OIDC_AUDIENCE,
    clientId: config.RRS_OIDC_CLIENT_ID,
    clientSecret: config.RRS_OIDC_CLIENT_SECRET,
    scopes: config.RRS_OIDC_SCOPES,
    organizationClaim: config.RRS_OIDC_ORGANIZATION_CLAIM,
    roleClaim: config.RRS_OIDC_ROLE_CLAIM,
    emailVerifiedClaim: config.RRS_OIDC_EMAIL_VERIFIED_CLAIM,
    secret,
    redirectUri: () => `${publicUrl()}${OIDC_PATH}/callback`,
  });
  const authenticateMember = createAuthenticate({ db, keyUse, verifyAccessToken: identityProvider.verifyAccessToken });
  const authenticatePipeline = createPipelineAuthenticate({ db, outbound });
  const authenticate: Authenticate = async (credential, caller) => {
    const pipeline = await authenticatePipeline(credential, caller);
    return pipeline === undefined ? authenticateMember(credential, caller) : pipeline;
  };
  const app = await createApp({
    logger: log,
    accessLog: log.access,
    authenticate,
    clock: systemClock,
    bodyLimit: config.RRS_BODY_LIMIT,
    requestTimeoutMs: config.RRS_REQUEST_TIMEOUT * 1000,
    rateLimit: { perMinute: config.RRS_RATE_LIMIT, burst: config.RRS_RATE_BURST },
    trustedProxies: config.RRS_TRUSTED_PROXIES,
    corsOrigins: config.RRS_CORS_ORIGINS,
    publicUrl,
    prepare,
  });
  const previews = openPreviews({ db, databaseUrl, blobs });
  app.addHook('onClose', () => previews.close());
  const exports = openExports(databaseUrl);
  app.addHook('onClose', () => exports.close());
  observeRequests(app, operations);
  installHealth(app, operations);
  if (config.RRS_METRICS_PORT === null) installMetrics(app, operations);
  installPages(app);
  if (console === null) app.get('/', { config: { access: 'public' }, schema: { hide: true } }, (_request, reply) => reply.redirect('/docs/', 302));
  const page = console === null ? null : installConsole(app, console);
  wellKnownKeys(app, { db });
  sharedPackageLink(app, page);
  await app.register(
    async (api) => {
      const { codeFlow } = identityProvider;
      organizationRoutes({ db, secret, sessionHours: config.RRS_SESSION_HOURS, publicUrl, readUsage, codeFlow, facts: factsOf(config) })(api);
      auditRoutes({ db, secret, namesOf: namesOfObjects })(api);
      eventRoutes({ db, secret, outbound, publicUrl })(api);
      assetRoutes({ db, secret, follower: followAsset(follower) })(api);
      pipelineRoutes({ db, secret, outbound })(api);
      vulnerabilityRoutes({ db, secret, follower: followAliases(follower) })(api);
      findingRoutes({ db, secret, blobs, exports, follower, reportLimit: config.RRS_REPORT_LIMIT })(api);
      const keys = openKeyRing(keysDir(config));
      const reach = { mirrors: config.RRS_ENRICHMENT_MIRRORS, refusal: outbound.refusal, sender: outbound };
      integrationRoutes({ db, secret, providers: builtIn, keys, clock: systemClock, follower, publicUrl, ...reach })(api);
      inboundRoute({ db, providers: builtIn, keys, onTicketsChanged: queueTicketReads })(api);
      workItemRoutes({ db, secret, findingFilter: FilterBody, states: previews.states })(api);
      commentRoutes({ db, secret })(api);
      searchRoutes({ db })(api);
      const { RRS_ARTIFACT_LIMIT: artifactLimit, RRS_REPORT_LIMIT: reportLimit, RRS_TSA_CERTIFICATES: timestampCertificates } = config;
      evidenceRoutes({
        db,
        secret,
        blobs,
        artifactLimit,
        reportLimit,
        publicUrl,
        previews,
        timestampCertificates,
        timestamped: config.RRS_TSA_URL.length > 0,
        keysDir: keysDir(config),
      })(api);
    },
    { prefix: '/api/v1' },
  );
  return app;
}

/** Creates an HTTP server that has only health and metrics: the one of a worker, or the one on RRS_METRICS_PORT. */
export async function createOperationsHttp(log: Log, publicUrl: () => string, operations: OperationsOptions): Promise<App> {
  const app = await createApp({
    logger: log,
    accessLog: log.access,
    authenticate: async () => null,
    clock: systemClock,
    bodyLimit: 1024,
    requestTimeoutMs: 10_000,
    rateLimit: { perMinute: 0, burst: 1 },
    trustedProxies: [],
    corsOrigins: [],
    publicUrl,
  });
  installHealth(app, operations);
  installMetrics(app, operations);
  return app;
}

function factsOf(config: Config): PublicFacts {
  return {
    version,
    limits: { body_bytes: config.RRS_BODY_LIMIT, report_bytes: config.RRS_REPORT_LIMIT, artifact_bytes: config.RRS_ARTIFACT_LIMIT },
    identityProvider: config.RRS_OIDC_ISSUER === null || config.RRS_OIDC_CLIENT_ID === null ? null : new URL(config.RRS_OIDC_ISSUER).host,
  };
}
