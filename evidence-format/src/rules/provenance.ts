import type { FindingFacts } from '../document/finding.ts';
import { type Delivery, PROVENANCES, type Provenance, type Scan } from '../document/scan.ts';
import { type Identities, OWNERLESS } from './identities.ts';
import { scansAfter } from './standing.ts';
import type { Workers } from './workers.ts';

/** What the provenance of a scan depends on. */
export interface ProvenanceFacts {
  scans: ReadonlyMap<string, Scan>;
  workers: Workers;
  identities: Identities;
}

/** The worst provenance of the scans that no longer show the finding. Null if there is none. */
export function provenanceOf(finding: Pick<FindingFacts, 'before' | 'after'>, facts: ProvenanceFacts): Provenance | null {
  const known = new Set(provenances(finding, facts).map(({ provenance }) => provenance));
  return PROVENANCES.findLast((provenance) => known.has(provenance)) ?? null;
}

/** The provenance of each scan that no longer shows the finding. */
export function provenances(finding: Pick<FindingFacts, 'before' | 'after'>, facts: ProvenanceFacts): { scan: string; provenance: Provenance }[] {
  if (finding.after.state !== 'absent') return [];
  const before = facts.scans.get(finding.before.scan ?? '');
  const scans = scansAfter(finding).flatMap((id) => facts.scans.get(id) ?? []);
  return scans.map((scan) => ({ scan: scan.id, provenance: scanProvenance(scan, before, facts) }));
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
