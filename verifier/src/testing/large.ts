import type { Facts, TrailEvent } from '@rrs/evidence-format';
import type { Recipe } from './build.ts';
import { AT, ada, findingId, IDS, id } from './sample.ts';
import { trailEvent } from './sample-trail.ts';

/** A true package with this many findings: each was claimed as fixed, and a scan verified it. */
export function largeRecipe(findings: number): Recipe {
  return { facts: (facts, events) => grow(facts, events, findings) };
}

const BATCH = 500;

function grow(facts: Facts, events: TrailEvent[], count: number): void {
  const [model] = facts.findings;
  const linked = events.find(({ action }) => action === 'work_item.findings_linked');
  if (model === undefined || linked === undefined) throw new Error('the sample has no finding');
  const more = Array.from({ length: count - facts.findings.length }, (_, index) => ({
    ...structuredClone(model),
    id: findingId(1_000_000 + index),
    title: `Weakness ${index} of a library with a rather long name, as titles of scanners are`,
    weakness: `CVE-2026-${100_000 + index}`,
    cves: [`CVE-2026-${100_000 + index}`],
  }));
  const ids = more.map((finding) => finding.id);
  facts.findings.push(...more);
  // A line of the audit trail has a limit, so the service links findings in batches.
  const batches = Array.from({ length: Math.ceil(ids.length / BATCH) }, (_, index) => ids.slice(index * BATCH, (index + 1) * BATCH));
  const links = batches.map((finding_ids, index) =>
    trailEvent(500_000 + index, { ...linked, by: ada, id: id(500_000 + index), after: { linked: finding_ids.length, finding_ids, filter: { asset: 'web' } } }),
  );
  const acts = ids.flatMap((finding, index) => {
    const object = { type: 'finding', id: finding };
    const changed = { action: 'finding.status_changed', object };
    return [
      trailEvent(1_000_000 + 2 * index, { ...changed, at: AT.claimed, by: ada, before: { status: 'open' }, after: { status: 'remediated' } }),
      trailEvent(1_000_001 + 2 * index, {
        ...changed,
        at: AT.verified,
        before: { status: 'remediated' },
        after: { status: 'verified', reason_code: 'scan_absent' },
        import_id: IDS.after,
      }),
    ];
  });
  const all = [...events, ...links, ...acts].sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0));
  events.splice(0, events.length, ...all);
}
