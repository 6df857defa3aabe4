import { errorCodeOf, messageOf } from '../shared/errors.ts';
import { AddressRefused } from './addresses.ts';

type FaultKind = 'timeout' | 'too_large' | 'refused_address' | 'connection' | 'interrupted';

/** Why there is no (whole) answer, in words that people of an organization may read: nothing of how this service reaches the outside. */
export class OutboundFault extends Error {
  readonly kind: FaultKind;
  constructor(kind: FaultKind, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'OutboundFault';
    this.kind = kind;
  }
}

interface Circumstances {
  over: AbortSignal;
  signal: AbortSignal | undefined;
  timeoutMs: number;
  throughProxy: boolean;
}

export function faultOf(error: unknown, { over, signal, timeoutMs, throughProxy }: Circumstances): unknown {
  if (error instanceof OutboundFault) return error;
  if (signal?.aborted) return signal.reason;
  if (over.aborted) return new OutboundFault('timeout', `no full answer within ${timeoutMs / 1000} seconds`, { cause: error });
  if (error instanceof AddressRefused) return new OutboundFault('refused_address', error.message, { cause: error });
  const code = errorCodeOf(error) ?? '';
  const connection = (message: string): OutboundFault => new OutboundFault('connection', message, { cause: error });
  if (UNKNOWN_AUTHORITY.has(code))
    return connection(
      'its certificate is signed by an authority that this service does not know; an operator can have it trusted with RRS_OUTBOUND_CERTIFICATES',
    );
  if (code === 'ERR_PROXY_TUNNEL') return proxyRefusal(statusOf(error), error);
  if (throughProxy && isOfConnecting(error))
    return connection(`the proxy of this service cannot be reached (${code}); an operator sets it with RRS_OUTBOUND_PROXY`);
  if (code === 'ECONNRESET' || code.startsWith('Z_') || code.startsWith('ERR__ERROR_FORMAT'))
    return new OutboundFault('interrupted', 'the connection was cut or the answer is damaged', { cause: error });
  return connection(messageOf(error) || code || 'no connection');
}

export function proxyRefusal(status: number | null, cause?: unknown): OutboundFault {
  const what =
    status === 407
      ? 'the proxy of this service asks for other credentials (407); an operator sets them in RRS_OUTBOUND_PROXY'
      : status === null
        ? 'the proxy of this service closed the connection'
        : `the proxy of this service did not let it through (${status})`;
  return new OutboundFault('connection', what, { cause });
}

/** As OpenSSL has them (X509_verify_cert_error_string). */
const UNKNOWN_AUTHORITY = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);

function statusOf(error: unknown): number | null {
  return error instanceof Error && 'statusCode' in error && typeof error.statusCode === 'number' ? error.statusCode : null;
}

function isOfConnecting(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error && (error.syscall === 'connect' || error.syscall === 'getaddrinfo');
}
