import { X509Certificate } from 'node:crypto';
import http from 'node:http';
import https from 'node:https';
import { createSecureContext, getCACertificates, type SecureContext } from 'node:tls';
import { messageOf, OperatorError } from '../shared/errors.ts';
import type { Guard } from './addresses.ts';

export interface OutboundOptions {
  guard: Guard;
  /** PEM certificates to trust in addition to the default ones. */
  certificates?: string | undefined;
  /** URL of an HTTP proxy. The proxy resolves host names, so the guard checks only IP addresses in URLs, and the proxy must block private networks. */
  proxy?: string | null;
  /** Time limit for a tunnel through the proxy, including the TLS handshake. */
  tunnelMs?: number;
}

const TUNNEL_MS = 30_000;

export function createAgents({ guard, certificates, proxy, tunnelMs = TUNNEL_MS }: OutboundOptions): { plain: http.Agent; secure: https.Agent } {
  const common = { keepAlive: true, maxSockets: 8, ...(proxy ? { proxyEnv: { HTTP_PROXY: proxy, HTTPS_PROXY: proxy } } : { lookup: guard.lookup }) };
  const secure = new https.Agent({ ...common, ...(certificates ? { secureContext: trusting(certificates) } : {}) });
  if (proxy) limitTunnels(secure, tunnelMs);
  return { plain: new http.Agent(common), secure };
}

/** Aborting a request does not abort its unfinished tunnel. Without a limit, silent proxies would use up the sockets of the agent. */
function limitTunnels(agent: https.Agent, tunnelMs: number): void {
  const create = agent.createConnection.bind(agent);
  agent.createConnection = (options, done) => {
    const socket = create(options, (error, stream) => {
      clearTimeout(limit);
      done?.(error, stream);
    });
    const limit = setTimeout(() => socket?.destroy(new Error(`no connection through the proxy within ${tunnelMs / 1000} seconds`)), tunnelMs);
    return socket;
  };
}

/** Created once, because reading all default certificates for each connection would block the event loop. */
function trusting(certificates: string): SecureContext {
  assertReadable(certificates);
  return createSecureContext({ ca: [...getCACertificates('default'), certificates] });
}

/** OpenSSL silently skips certificates that it cannot read, and the error would appear only when the certificate is needed. */
function assertReadable(certificates: string): void {
  for (const [pem] of certificates.matchAll(/-----BEGIN CERTIFICATE-----[^-]*(?:-----END CERTIFICATE-----)?/g)) {
    try {
      new X509Certificate(pem);
    } catch (error) {
      throw new OperatorError(`RRS_OUTBOUND_CERTIFICATES contains an invalid certificate (${messageOf(error)}). Correct it.`, { cause: error });
    }
  }
}
