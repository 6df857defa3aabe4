import type { FindingFacts } from '../document/finding.ts';
import type { Delivery, Provenance, Scan } from '../document/scan.ts';
import { type Identities, OWNERLESS } from './identities.ts';
import type { Workers } from './workers.ts';

/** What the provenance of a scan depends on. */
export interface ProvenanceFacts {
  scans: ReadonlyMap<string, Scan>;
  workers: Workers;
  identities: Identities;
}

/** The provenance of the scan that no longer shows the finding. Null if there is none. */
export function provenanceOf({ after, before }: Pick<FindingFacts, 'before' | 'after'>, facts: ProvenanceFacts): Provenance | null {
  const scan = after.state === 'absent' ? facts.scans.get(after.scan ?? '') : undefined;
  return scan === undefined ? null : scanProvenance(scan, facts.scans.get(before.scan ?? ''), facts);
}

/**
 * How independent a scan is of the people who did the work. Nothing that they control counts: not their own connection, nor a connection whose
 * settings changed since the scan before the fix. A pipeline counts if somebody else trusted it before the scan, and if it ran on a protected ref, so
 * that the workers could not change it on their own. `connection` is then the trust.
 */
function scanProvenance(scan: Scan, before: Scan | undefined, facts: ProvenanceFacts): Provenance {
  const { method, by, connection } = scan.delivery;
  if (method === 'connection') return connection !== null && isIndependent(connection, scan, before, facts) ? 'connection' : 'worker';
  if (method === 'pipeline') return connection !== null && isIndependent(connection, scan, before, facts) ? 'pipeline' : 'worker';
  return method === 'upload' && isOther(by, facts) ? 'other_person' : 'worker';
}

type Connection = NonNullable<Delivery['connection']>;

function isIndependent(connection: Connection, scan: Scan, before: Scan | undefined, facts: ProvenanceFacts): boolean {
  const { created_by, changed_by, changed_at, id, settings_sha256 } = connection;
  const previous = before?.delivery.connection ?? null;
  const sameSettings = previous === null || previous.id !== id || previous.settings_sha256 === settings_sha256;
  const changedBefore = Date.parse(changed_at) <= Date.parse(scan.started_at ?? scan.received_at);
  return sameSettings && changedBefore && isOther(created_by, facts) && isOther(changed_by, facts);
}

/** A known person who did not do the work. */
export function isOther(by: Delivery['by'] | null, { workers, identities }: Pick<ProvenanceFacts, 'workers' | 'identities'>): boolean {
  const identity = identities.of(by);
  return identity !== null && identity !== OWNERLESS && !workers.has(by);
}
