import { type EvidenceDocument, type Finding, type Person, severityRank } from '@rrs/evidence-format';
import { EVIDENCE, type Fault, FINDINGS } from './fault.ts';

/** IDs that the document defines, for the checks of everything that refers to them. */
export interface Known {
  /** Names of people. */
  people: ReadonlyMap<string, string>;
  scans: ReadonlyMap<string, EvidenceDocument['scans'][number]>;
  assets: ReadonlyMap<string, EvidenceDocument['assets'][number]>;
  artifacts: ReadonlySet<string>;
  /** By asset. */
  sources: ReadonlyMap<string, EvidenceDocument['sources']>;
  asOf: string;
  itemId: string;
}

function byAsset(sources: EvidenceDocument['sources']): Known['sources'] {
  const result = new Map<string, EvidenceDocument['sources']>(sources.map(({ asset_id }) => [asset_id, []]));
  for (const source of sources) result.get(source.asset_id)?.push(source);
  return result;
}

export function knownIn({ people, scans, assets, artifacts, sources, as_of, work_item }: EvidenceDocument): Known {
  return {
    people: new Map(people.map(({ id, name }) => [id, name])),
    scans: new Map(scans.map((scan) => [scan.id, scan])),
    assets: new Map(assets.map((asset) => [asset.id, asset])),
    artifacts: new Set(artifacts.map(({ id }) => id)),
    sources: byAsset(sources),
    asOf: as_of,
    itemId: work_item.id,
  };
}

/** Checks that nothing in the document occurs twice and that everything it refers to is in the package. */
export function* referenceFaults(document: EvidenceDocument, known: Known): Generator<Fault> {
  const { people, scans, assets, artifacts, approvals, unlinked, sources } = document;
  yield* duplicates('person', people);
  yield* duplicates('scan', scans);
  yield* duplicates('asset', assets);
  yield* duplicates('artifact', artifacts);
  yield* duplicates('approval', approvals);
  yield* duplicates('removed finding', unlinked);
  for (const { id, superseded_by } of artifacts) {
    if (superseded_by !== null && !known.artifacts.has(superseded_by)) yield missing(EVIDENCE, `The artifact ${id}`, `the artifact ${superseded_by}`);
  }
  for (const { source, asset_id } of sources) if (!known.assets.has(asset_id)) yield missing(EVIDENCE, `The source ${source}`, `the asset ${asset_id}`);
  // The trust in a pipeline is named only if it ran on a protected ref.
  for (const { id, delivery } of scans)
    if (delivery.method !== 'pipeline' && (delivery.method === 'connection') !== (delivery.connection !== null))
      yield { code: 'reference', file: EVIDENCE, detail: `The scan ${id} must name a connection exactly if one delivered it.` };
  for (const { id, delivery } of scans)
    if ((delivery.method === 'pipeline') !== (delivery.pipeline !== null) || (delivery.pipeline?.ref_protected === false && delivery.connection !== null))
      yield {
        code: 'reference',
        file: EVIDENCE,
        detail: `The scan ${id} must name the run of a pipeline exactly if one sent it, and a trust only on a protected ref.`,
      };
  for (const [what, person] of actorsIn(document)) yield* unknownPerson({ file: EVIDENCE, what, person }, known);
}

function* duplicates(kind: string, items: readonly { id: string }[]): Generator<Fault> {
  const seen = new Set<string>();
  for (const { id } of items) {
    if (seen.has(id)) yield { code: 'reference', file: EVIDENCE, detail: `The ${kind} ${id} occurs twice.` };
    seen.add(id);
  }
}

/** Whoever set the first policy, made a credential or removed a source may have done it long before, so `people` need not contain them. */
export function* actorsIn({
  work_item,
  requested_by,
  policies,
  unlinked,
  scans,
  artifacts,
  approvals,
  collection,
}: EvidenceDocument): Generator<[string, Person | null]> {
  yield ['The work item', work_item.created_by];
  yield ['The request', requested_by];
  for (const { effective_from, changed_by } of policies.slice(1)) yield [`The policy of ${effective_from}`, changed_by];
  for (const { id, by } of unlinked) yield [`The removal of the finding ${id}`, by];
  for (const { id, delivery, confirmed } of scans) {
    yield [`The scan ${id}`, delivery.by];
    yield [`The connection of the scan ${id}`, delivery.connection?.created_by ?? null];
    yield [`The connection of the scan ${id}`, delivery.connection?.changed_by ?? null];
    yield [`The confirmation of the scan ${id}`, confirmed?.by ?? null];
  }
  for (const { id, added_by, removed } of artifacts) {
    yield [`The artifact ${id}`, added_by];
    yield [`The removal of the artifact ${id}`, removed?.by ?? null];
  }
  for (const { id, by } of approvals) yield [`The approval ${id}`, by];
  for (const { file, collected_by } of collection) yield [`The collection of ${file}`, collected_by];
}

/** The same for one finding. */
export function* findingReferenceFaults(finding: Finding, known: Known, itemId: string): Generator<Fault> {
  const { id, before, after, contradicted_by, asset, work_items } = finding;
  const what = `The finding ${id}`;
  for (const scan of [before.scan, after.scan, ...after.others, contradicted_by]) {
    if (scan !== null && !known.scans.has(scan)) yield missing(FINDINGS, what, `the scan ${scan}`);
  }
  if ((before.state === 'present') !== (before.scan !== null))
    yield { code: 'reference', file: FINDINGS, detail: `${what} must name the scan that showed it exactly if there is one.` };
  if (finding.occurrences.length > finding.occurrence_count)
    yield { code: 'counts', file: FINDINGS, detail: `${what} lists more places than it counts.`, actual: String(finding.occurrence_count) };
  const listed = known.assets.get(asset.id);
  if (listed === undefined) yield missing(FINDINGS, what, `the asset ${asset.id}`);
  else if (listed.type !== asset.type || listed.name !== asset.name)
    yield {
      code: 'reference',
      file: FINDINGS,
      detail: `${what} and \`assets\` describe the asset differently.`,
      expected: `${listed.type} ${listed.name}`,
      actual: `${asset.type} ${asset.name}`,
    };
  for (const person of actorsOf(finding)) yield* unknownPerson({ file: FINDINGS, what, person }, known);
  yield* valueFaults(finding);
  if (work_items.some((item, at) => item.linked_at < (work_items[at - 1]?.linked_at ?? '')))
    yield { code: 'reference', file: FINDINGS, detail: `${what} does not list its work items oldest first.` };
  if (work_items.filter((item) => item.id === itemId && item.unlinked_at === null).length !== 1)
    yield { code: 'reference', file: FINDINGS, detail: `${what} must be linked to the work item of the package once.`, expected: itemId };
}

/** Everybody who decided something about the finding. */
export function actorsOf({ override, decided_by, claimed_by, acceptance }: Finding): (Person | null)[] {
  return [override?.by ?? null, decided_by, claimed_by, acceptance?.requested_by ?? null, acceptance?.approved_by ?? null];
}

/** Values of one finding that contradict each other. */
function* valueFaults({ id, state, acceptance, justification, severity, severity_source, override }: Finding): Generator<Fault> {
  const fault = (detail: string): Fault => ({ code: 'reference', file: FINDINGS, detail: `The finding ${id} ${detail}.` });
  if ((acceptance !== null) !== (state === 'risk_accepted')) yield fault('must say who accepted its risk exactly if it is accepted');
  if (state !== 'false_positive' && justification !== null) yield fault('has a justification, which only false positives have');
  if (override !== null && override.severity !== severity) yield fault('has another severity than the one that a person set');
  if (override === null && severityRank(severity) > severityRank(severity_source)) yield fault('is more severe than its sources ever stated');
}

function* unknownPerson({ file, what, person }: { file: string; what: string; person: Person | null }, { people }: Known): Generator<Fault> {
  if (person !== null && person.person !== null && !people.has(person.person)) yield missing(file, what, `the person ${person.person}`);
}

function missing(file: string, what: string, reference: string): Fault {
  return { code: 'reference', file, detail: `${what} refers to ${reference}, which is not in the package.` };
}

/** All packages of the work item before this one must be listed, so that none can be hidden. */
export function* earlierFaults({ earlier, sequence, package_id, log }: EvidenceDocument): Generator<Fault> {
  const fault = (detail: string): Fault => ({ code: 'earlier', file: EVIDENCE, detail });
  if (earlier.length !== sequence - 1)
    yield { ...fault('`earlier` does not list every package before this one.'), expected: `${sequence - 1} packages`, actual: `${earlier.length} packages` };
  const ids = new Set([package_id]);
  const places = new Set<string>();
  for (const [index, { package_id: id, sequence: number, outcome, tagmanifest_sha256, log: place }] of earlier.entries()) {
    if (number !== index + 1) yield fault(`Package ${index + 1} in \`earlier\` has the sequence ${number}.`);
    if (ids.has(id)) yield fault(`The package ${id} occurs twice.`);
    ids.add(id);
    const isPublished = tagmanifest_sha256 !== null && place !== null;
    if (isPublished !== (outcome === 'ready' || outcome === 'superseded') || (tagmanifest_sha256 === null) !== (place === null))
      yield fault(`The package ${id} must have a hash and a log entry exactly if it was published.`);
    if (place === null) continue;
    const where = `${place.epoch}/${place.index}`;
    if (places.has(where) || place.epoch > log.epoch) yield fault(`The log entry of the package ${id} belongs to another package or to a later log.`);
    places.add(where);
  }
}
