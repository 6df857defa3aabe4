/** What the service acknowledged, and so must keep. */
export interface Ledger {
  /** Id and title. */
  findings: Map<string, string>;
  imports: Map<string, { asset: string; records: number }>;
  runs: Map<string, string>;
  items: Set<string>;
  packages: Set<string>;
  /** Ids of work items. */
  tickets: Set<string>;
  /** Requests without a response. They are sent again with the same key and must then have happened once. */
  unanswered: Map<string, { path: string; body: object; title: string }>;
  /** The highest schema version that a migration reported. */
  schema: number;
  /** Responses by status. */
  statuses: Map<number | 'none', number>;
}

export function emptyLedger(): Ledger {
  return {
    findings: new Map(),
    imports: new Map(),
    runs: new Map(),
    items: new Set(),
    packages: new Set(),
    tickets: new Set(),
    unanswered: new Map(),
    schema: 0,
    statuses: new Map(),
  };
}
