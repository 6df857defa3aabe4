import { errorCodeOf, messageOf } from '../shared/errors.ts';
import { AddressRefused } from './addresses.ts';

type FaultKind = 'timeout' | 'too_large' | 'refused_address' | 'connection' | 'interrupted';

/** Why there is no complete response. Members of an organization read the message, so it reveals nothing about the network of the service. */
export class OutboundFault extends Error {
  readonly kind: FaultKind;
  constructor(kind: FaultKind, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'OutboundFault';
    this.kind = kind;
  }
}

interface RequestContext {
  timeout: AbortSignal;
  signal: AbortSignal | undefined;
  timeoutMs: number;
  throughProxy: boolean;
  /** Whether the sender can supply certificates to trust. */
  canTrustMore: boolean;
}

export function faultOf(error: unknown, { timeout, signal, timeoutMs, throughProxy, canTrustMore }: RequestContext): unknown {
  if (error instanceof OutboundFault) return error;
  if (signal?.aborted) return signal.reason;
  if (timeout.aborted) return new OutboundFault('timeout', `no complete response within ${timeoutMs / 1000} seconds`, { cause: error });
  if (error instanceof AddressRefused) return new OutboundFault('refused_address', error.message, { cause: error });
  const code = errorCodeOf(error) ?? '';
  const connection = (message: string): OutboundFault => new OutboundFault('connection', message, { cause: error });
  if (UNKNOWN_AUTHORITY.has(code))
    return connection(
      `the certificate is signed by an unknown authority; ${canTrustMore ? 'enter the authority in the settings of the connection, or ' : ''}an operator can add the authority with RRS_OUTBOUND_CERTIFICATES`,
    );
  if (code === 'ERR_PROXY_TUNNEL') return proxyRefusal(statusOf(error), error);
  if (throughProxy && isConnectError(error)) return connection(`the outbound proxy cannot be reached (${code}); an operator can correct RRS_OUTBOUND_PROXY`);
  if (code === 'ECONNRESET' || code.startsWith('Z_') || code.startsWith('ERR__ERROR_FORMAT'))
    return new OutboundFault('interrupted', 'the connection was interrupted or the response is corrupt', { cause: error });
  return connection(CAUSES[code] ?? (code.startsWith('ERR_SSL_') ? `TLS failed (${code})` : messageOf(error) || code || 'no connection'));
}

export function proxyRefusal(status: number | null, cause?: unknown): OutboundFault {
  const what =
    status === 407
      ? 'the outbound proxy rejected its credentials (407); an operator can correct RRS_OUTBOUND_PROXY'
      : status === null
        ? 'the outbound proxy closed the connection'
        : `the outbound proxy refused the request (${status})`;
  return new OutboundFault('connection', what, { cause });
}

/** Error codes of OpenSSL (X509_verify_cert_error_string). */
const UNKNOWN_AUTHORITY = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);

/** What common error codes mean to the person who entered the URL. */
const CAUSES: Readonly<Record<string, string>> = {
  ENOTFOUND: 'the host name does not exist; check the URL',
  EAI_AGAIN: 'the host name could not be resolved; try again later',
  ECONNREFUSED: 'the server refuses connections on this port; check the port, and that the server is running',
  ETIMEDOUT: 'the server did not accept the connection in time; check the URL and the firewall',
  EHOSTUNREACH: 'there is no route to the server; check the URL and the firewall',
  ENETUNREACH: 'there is no route to the server; check the URL and the firewall',
  EPROTO: 'the server does not answer with TLS on this port; check whether the URL must start with http instead of https',
  ERR_SSL_WRONG_VERSION_NUMBER: 'the server does not answer with TLS on this port; check whether the URL must start with http instead of https',
  ERR_SSL_PACKET_LENGTH_TOO_LONG: 'the server does not answer with TLS on this port; check whether the URL must start with http instead of https',
  CERT_HAS_EXPIRED: 'the certificate of the server has expired',
};

function statusOf(error: unknown): number | null {
  return error instanceof Error && 'statusCode' in error && typeof error.statusCode === 'number' ? error.statusCode : null;
}

function isConnectError(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error && (error.syscall === 'connect' || error.syscall === 'getaddrinfo');
}
