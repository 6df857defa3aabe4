/** How long a transaction may wait and work. PostgreSQL ends a statement that takes longer. */
export interface TransactionLimits {
  /** How long a statement waits for a lock, with a connection in use. */
  lockMs: number;
  statementMs: number;
  /** How long the transaction is tried again, without a connection in between, if it does not get its locks. */
  retryMs: number;
  /** How long it waits for a connection. Zero is without a limit. Default: what the database was opened with. */
  acquireMs?: number;
}

/**
 * A request that meets an import waits for it without a connection, so that one organization's import cannot use up the connections of all.
 * The bulk operations are the longest.
 */
export const REQUEST_LIMITS: TransactionLimits = { lockMs: 250, statementMs: 60_000, retryMs: 10_000 };

/** Applying a large report takes minutes, and the next one waits for it. A job that did not wait for a connection would use up an attempt and start again. */
export const JOB_LIMITS: TransactionLimits = { lockMs: 15 * 60_000, statementMs: 30 * 60_000, retryMs: 0, acquireMs: 0 };

/** The command line and the start of the service. */
export const NO_LIMITS: TransactionLimits = { lockMs: 0, statementMs: 0, retryMs: 0 };
