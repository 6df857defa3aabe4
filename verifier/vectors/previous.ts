import { sha256Hex, type TrailEvent } from '@rrs/evidence-format';
import { bytesSource } from '../src/archive/source.ts';
import { nodePlatform } from '../src/node.ts';
import { buildPackage, type Recipe, zipOf } from '../src/testing/build.ts';
import { AT, IDS } from '../src/testing/sample.ts';
import { item, trailEvent } from '../src/testing/sample-trail.ts';
import { verifyPrevious } from '../src/verify.ts';
import { failing, type Vector } from './vector.ts';

const INDEX = 2;
const older: Recipe = {
  index: INDEX,
  oldSize: 2,
  facts: (facts) => void Object.assign(facts, { package_id: IDS.previous, sequence: 1, earlier: [] }),
};

/** The second package of a work item, and what its first package showed. */
function successor(change: (events: TrailEvent[]) => TrailEvent[], tagManifest?: string): Vector['make'] {
  return async () => {
    const first = await buildPackage(older);
    const { previous } = await verifyPrevious(bytesSource(await zipOf(first)), first.trust, nodePlatform(), { now: Date.parse(AT.sealed) });
    if (previous === null) throw new Error('the earlier package is not verified');
    const tagmanifest_sha256 = tagManifest ?? sha256Hex(first.files.get('tagmanifest-sha256.txt') ?? new Uint8Array());
    const second = await buildPackage({
      facts: (facts) => {
        facts.earlier = [{ package_id: IDS.previous, sequence: 1, outcome: 'superseded', tagmanifest_sha256, log: { epoch: 1, index: INDEX } }];
      },
      trail: change,
    });
    return { zip: await zipOf(second), trust: second.trust, options: { previous } };
  };
}

const later = trailEvent(20, { at: AT.sealed, action: 'package.viewed', object: item });

export const previous: Vector[] = [
  { name: 'good: an earlier package whose events are all there', verdict: 'verified', codes: [], make: successor((events) => [...events, later]) },
  failing(
    'an event of the earlier package was removed',
    ['history_rewritten', 'selection', 'unproven'],
    successor((events) => events.filter(({ action }) => action !== 'work_item.findings_linked')),
  ),
  failing(
    'an event of the earlier package was changed',
    ['history_rewritten'],
    successor((events) => events.map((event) => (event.action === 'work_item.created' ? { ...event, reason: 'other' } : event))),
  ),
  failing(
    'an earlier package that was replaced',
    ['history_rewritten'],
    successor((events) => events, '4'.repeat(64)),
  ),
];
