import { X509Certificate } from 'node:crypto';
import http from 'node:http';
import https from 'node:https';
import { createSecureContext, getCACertificates, type SecureContext } from 'node:tls';
import { messageOf, OperatorError } from '../shared/errors.ts';
import type { Guard } from './addresses.ts';

export interface OutboundOptions {
  guard: Guard;
  /** Beside the system's own, in PEM. */
  certificates?: string | undefined;
  /** An HTTP proxy. It resolves names, so the guard sees only what is written out: what a name may lead to is the proxy's to decide. */
  proxy?: string | null;
  /** How long a tunnel through the proxy, with the handshake in it, may take. */
  tunnelMs?: number;
}

const TUNNEL_MS = 30_000;

export function createAgents({ guard, certificates, proxy, tunnelMs = TUNNEL_MS }: OutboundOptions): { plain: http.Agent; secure: https.Agent } {
  const common = { keepAlive: true, maxSockets: 8, ...(proxy ? { proxyEnv: { HTTP_PROXY: proxy, HTTPS_PROXY: proxy } } : { lookup: guard.lookup }) };
  const secure = new https.Agent({ ...common, ...(certificates ? { secureContext: trusting(certificates) } : {}) });
  if (proxy) limitTunnels(secure, tunnelMs);
  return { plain: new http.Agent(common), secure };
}

/** Until a tunnel stands, a request that is broken off does not end it: each would keep its place at the agent as long as the other side is silent. */
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

/** Made once: reading all of the usual certificates anew for each connection would hold everybody else up. */
function trusting(certificates: string): SecureContext {
  assertReadable(certificates);
  return createSecureContext({ ca: [...getCACertificates('default'), certificates] });
}

/** OpenSSL passes over what it cannot read, and the authority would be missed only when it is needed. */
function assertReadable(certificates: string): void {
  for (const [pem] of certificates.matchAll(/-----BEGIN CERTIFICATE-----[^-]*(?:-----END CERTIFICATE-----)?/g)) {
    try {
      new X509Certificate(pem);
    } catch (error) {
      throw new OperatorError(`RRS_OUTBOUND_CERTIFICATES has a certificate that cannot be read (${messageOf(error)}).`, { cause: error });
    }
  }
}
