export type FaultKind =
  /** The vendor refused the credentials. */
  | 'credentials'
  /** Something that the configuration names does not exist. */
  | 'configuration'
  | 'rate_limited'
  /** No connection, a time-out, or a server error of the vendor. */
  | 'unavailable'
  /** A response that does not match the vendor's documentation. */
  | 'invalid_answer'
  /** The vendor reports that data is missing, or pages repeat or never end. */
  | 'incomplete';

/** Ends the run. The message tells a person what is wrong. */
export class ConnectorError extends Error {
  readonly kind: FaultKind;
  /** The status of the response that caused it. Null if it was not a response. */
  readonly status: number | null;
  constructor(kind: FaultKind, message: string, options: ErrorOptions & { status?: number } = {}) {
    // Messages quote vendors and are stored. PostgreSQL accepts neither U+0000 nor half of a surrogate pair.
    super(message.replaceAll('\0', '').toWellFormed().slice(0, 2_000).toWellFormed(), options);
    this.name = 'ConnectorError';
    this.kind = kind;
    this.status = options.status ?? null;
  }
}
