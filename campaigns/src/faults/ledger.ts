export interface Unanswered {
  path: string;
  body: object;
  title: string;
}

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
  unanswered: Map<string, Unanswered>;
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

/** The kinds of work of which nothing was acknowledged. */
export function emptyParts({ findings, imports, runs, items, packages, tickets, schema }: Ledger): string[] {
  const counts = { findings: findings.size, imports: imports.size, runs: runs.size, items: items.size, packages: packages.size, tickets: tickets.size, schema };
  return Object.entries(counts).flatMap(([part, count]) => (count > 0 ? [] : [part]));
}
