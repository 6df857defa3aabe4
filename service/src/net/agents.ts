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
const IDLE_MS = 30_000;
/** Each holds a copy of all default certificates. */
const MAX_OWN_AGENTS = 20;

export interface Agents {
  /** Connections that trust additional certificates are never shared with requests that do not. */
  agentFor(url: URL, certificates: string | null | undefined): http.Agent;
  destroy(): void;
}

export function createAgents({ guard, certificates, proxy, tunnelMs = TUNNEL_MS }: OutboundOptions): Agents {
  const common = { keepAlive: true, maxSockets: 8, ...(proxy ? { proxyEnv: { HTTP_PROXY: proxy, HTTPS_PROXY: proxy } } : { lookup: guard.lookup }) };
  const secureAgent = (options: https.AgentOptions): https.Agent => {
    const agent = new https.Agent({ ...common, ...options });
    if (proxy) limitTunnels(agent, tunnelMs);
    return agent;
  };
  if (certificates) assertReadable(certificates);
  const plain = new http.Agent(common);
  const secure = secureAgent(certificates ? { secureContext: trusting([certificates]) } : {});
  const own = new Map<string, https.Agent>();
  const ownAgent = (more: string): https.Agent => {
    // An agent that leaves the map finishes its requests and then closes its idle sockets.
    const agent = own.get(more) ?? secureAgent({ timeout: IDLE_MS, secureContext: trusting([...(certificates ? [certificates] : []), more]) });
    own.delete(more);
    own.set(more, agent);
    for (const [oldest] of own) if (own.size > MAX_OWN_AGENTS) own.delete(oldest);
    return agent;
  };
  return {
    agentFor: ({ protocol }, more) => (protocol !== 'https:' ? plain : more ? ownAgent(more) : secure),
    destroy() {
      for (const agent of [plain, secure, ...own.values()]) agent.destroy();
    },
  };
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
function trusting(certificates: readonly string[]): SecureContext {
  return createSecureContext({ ca: [...getCACertificates('default'), ...certificates] });
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
