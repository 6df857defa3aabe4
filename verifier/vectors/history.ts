import { consistencyProof, consistencyText, type LogEpoch, leafEntry, MAX_CARRIED_LEAVES, rootFrom, sha256, toHex, utf8 } from '@rrs/evidence-format';
import { buildPackage, c2spNote, ORIGIN, type Recipe, testKeys } from '../src/testing/build.ts';
import { treeOf } from '../src/testing/log.ts';
import { IDS } from '../src/testing/sample.ts';
import { CURRENT, statusOf } from '../src/testing/status.ts';
import type { Trust } from '../src/trust/trust.ts';
import { changed, edit, failing, sealed, type Vector } from './vector.ts';

const ours = await testKeys();
const LARGE = MAX_CARRIED_LEAVES + 100;
const OTHER_ROOT = sha256(utf8('another history'));
const EPOCH = 'proof/epoch.sigstore.json';

/** The tree of the test package, with further entries after it. */
async function treeWithPackage(recipe: Recipe, size: number) {
  const entries = new Map<number, string>();
  await buildPackage({ ...recipe, log: ({ index, entry, epoch }) => void entries.set(0, epoch.entry).set(index, entry) });
  return treeOf(size, (at) => entries.get(at) ?? null);
}

const noteOf = (size: number, root: Uint8Array, origin = ORIGIN) => c2spNote(ours.note, { origin, size, root });

function holding(recipe: Recipe, given: () => Promise<Partial<Trust>>): Vector['make'] {
  return async () => {
    const { zip, trust } = await sealed(recipe)();
    return { zip, trust: { ...trust, ...(await given()) } };
  };
}

/** An auditor's checkpoint of a true earlier or later state. */
async function trueNote(recipe: Recipe, size: number): Promise<string> {
  const { lookup } = await treeWithPackage(recipe, Math.max(size, (recipe.index ?? 6) + 1));
  return noteOf(size, rootFrom(size, lookup));
}

async function proofOf(recipe: Recipe, from: number, to: number): Promise<string> {
  const { lookup } = await treeWithPackage(recipe, Math.max(to, (recipe.index ?? 6) + 1));
  const [from_root_hash, to_root_hash] = [from, to].map((size) => toHex(rootFrom(size, lookup)));
  return JSON.stringify({ origin: ORIGIN, from, to, from_root_hash, to_root_hash, hashes: consistencyProof(from, to, lookup).map(toHex) });
}

const large: Recipe = { index: LARGE - 1, oldSize: LARGE - 1 };

/** The first package of its work item in a log that has others, which names no earlier state. */
const unnamed: Recipe = {
  oldSize: 0,
  facts: (facts) => {
    facts.sequence = 1;
    facts.earlier = [];
  },
};

/** The log after a restore: 20 entries were kept of 25. */
const restarted = (change: (epoch: LogEpoch) => void = () => {}, gap = true): Recipe => ({
  epoch: (epoch) => {
    Object.assign(epoch, { epoch: 2, origin: `${ORIGIN}/epoch-2`, reason: 'restore', lost: 5, at: '2026-02-01T00:00:00.000Z' });
    epoch.previous = {
      epoch: 1,
      origin: ORIGIN,
      kept: { size: 20, root: toHex(sha256(utf8('kept'))) },
      highest_known: { size: 25, root: toHex(sha256(utf8('highest'))), source: 'mark' },
    };
    change(epoch);
  },
  facts: (facts) => {
    facts.log = { origin: `${ORIGIN}/epoch-2`, epoch: 2, started_at: '2026-02-01T00:00:00.000Z' };
  },
  evidence: ({ completeness }) => {
    if (!gap) completeness.gaps = completeness.gaps.filter(({ code }) => code !== 'log_restarted');
  },
});

const verified = (name: string, make: Vector['make']): Vector => ({ name, verdict: 'verified', codes: [], make });
const unproven = (name: string, make: Vector['make']): Vector => ({ name, verdict: 'consistent', codes: [], make });

export const history: Vector[] = [
  verified(
    'good: a checkpoint of any smaller size',
    holding({}, async () => ({ checkpoints: await Promise.all([1, 2, 3, 5, 6, 7].map((size) => trueNote({}, size))) })),
  ),
  ...[2, 3, 6, 7].map((size) =>
    failing(
      `a wholly different tree with the same keys, ${size} entries held`,
      ['fork'],
      holding({}, async () => ({ checkpoints: [await noteOf(size, OTHER_ROOT)] })),
    ),
  ),
  unproven(
    'a newer checkpoint without a proof',
    holding({}, async () => ({ checkpoints: [await trueNote({}, 9)] })),
  ),
  verified(
    'good: a newer checkpoint with a proof',
    holding({}, async () => ({ checkpoints: [await trueNote({}, 9)], consistencies: [await proofOf({}, 7, 9)] })),
  ),
  failing(
    'a newer checkpoint of another tree with its proof',
    ['fork'],
    holding({}, async () => {
      const { lookup } = treeOf(9, () => null);
      const [from_root_hash, to_root_hash] = [7, 9].map((size) => toHex(rootFrom(size, lookup)));
      const proof = JSON.stringify({ origin: ORIGIN, from: 7, to: 9, from_root_hash, to_root_hash, hashes: consistencyProof(7, 9, lookup).map(toHex) });
      return { checkpoints: [await noteOf(9, rootFrom(9, lookup))], consistencies: [proof] };
    }),
  ),
  unproven(
    'a checkpoint of another log',
    holding({}, async () => ({ checkpoints: [await noteOf(3, OTHER_ROOT, `elsewhere.example/orgs/${IDS.organization}`)] })),
  ),
  verified('good: a large log', sealed(large)),
  unproven(
    'a large log and a smaller checkpoint without a proof',
    holding(large, async () => ({ checkpoints: [await trueNote(large, 100)] })),
  ),
  verified(
    'good: a large log and a smaller checkpoint with a proof',
    holding(large, async () => ({ checkpoints: [await trueNote(large, 100)], consistencies: [await proofOf(large, 100, LARGE)] })),
  ),
  failing(
    'a large log that contradicts a smaller checkpoint',
    ['fork'],
    holding(large, async () => ({ checkpoints: [await noteOf(100, OTHER_ROOT)], consistencies: [await proofOf(large, 100, LARGE)] })),
  ),
  unproven(
    'a proof that does not belong to the log',
    holding(large, async () => ({
      checkpoints: [await trueNote(large, 100)],
      consistencies: [(await proofOf(large, 100, LARGE)).replace(/"hashes":\["../, '"hashes":["00')],
    })),
  ),
  failing(
    'an omitted earlier state, although an earlier package is in the log',
    ['consistency'],
    changed((files) => void files.set('proof/consistency.txt', utf8(consistencyText({ oldSize: 0 })))),
  ),
  verified(
    'good: an earlier state of another work item is omitted, and a checkpoint of any smaller size is compared',
    holding(unnamed, async () => ({ checkpoints: await Promise.all([1, 2, 5, 7].map((size) => trueNote(unnamed, size))) })),
  ),
  failing(
    'an omitted earlier state that was another one',
    ['fork'],
    holding(unnamed, async () => ({ checkpoints: [await noteOf(5, OTHER_ROOT)] })),
  ),
  failing('an omitted earlier state of a large log', ['consistency'], sealed({ ...large, oldSize: 0 })),
  failing(
    'no leaves',
    ['proof_missing'],
    changed((files) => files.delete('proof/leaves.bin')),
  ),
  failing(
    'leaves of a large log',
    ['consistency', 'proof_extra'],
    changed((files) => files.set('proof/leaves.bin', new Uint8Array(32 * LARGE)), large),
  ),
  failing(
    'a changed leaf',
    ['consistency'],
    changed((files) => {
      const bytes = files.get('proof/leaves.bin')?.slice() ?? new Uint8Array();
      bytes[40] = (bytes[40] ?? 0) ^ 1;
      files.set('proof/leaves.bin', bytes);
    }),
  ),

  failing(
    'no statement about the log',
    ['proof_missing'],
    changed((files) => files.delete(EPOCH)),
  ),
  failing(
    'a statement about the log that is not a bundle',
    ['epoch'],
    changed((files) => files.set(EPOCH, utf8('{}\n'))),
  ),
  failing(
    'a statement about the log that is not in the log',
    ['epoch'],
    sealed({
      log: (parts) => {
        parts.epoch.entry = leafEntry({ ...parts.epoch.envelope, signatures: [{ keyid: 'x', sig: 'AA==' }] }, 'x');
      },
    }),
  ),
  failing(
    'the statement of another log',
    ['epoch'],
    changed((files) => edit(files, EPOCH, (text) => text.replace('"logIndex":"0"', '"logIndex":"1"'))),
  ),
  failing('a statement about another organization', ['epoch'], sealed({ epoch: (epoch) => void Object.assign(epoch, { organization_id: IDS.artifact }) })),
  failing('a statement about another epoch', ['epoch'], sealed(restarted((epoch) => void Object.assign(epoch, { epoch: 3 })))),
  failing('a first epoch with a predecessor', ['epoch', 'log_facts'], sealed(restarted((epoch) => void Object.assign(epoch, { epoch: 1, origin: ORIGIN })))),
  verified('good: a restarted log', sealed(restarted())),
  failing('a restarted log without the gap', ['gap_missing'], sealed(restarted(() => {}, false))),
  verified(
    'good: a restarted log and the checkpoint that it was restored from',
    holding(restarted(), async () => ({ checkpoints: [await noteOf(20, sha256(utf8('kept')))] })),
  ),
  failing(
    'a restarted log that was restored from another state',
    ['fork'],
    holding(restarted(), async () => ({ checkpoints: [await noteOf(20, OTHER_ROOT)] })),
  ),
  failing(
    'a restarted log that admits fewer entries than there were',
    ['fork'],
    holding(restarted(), async () => ({ checkpoints: [await noteOf(26, OTHER_ROOT)] })),
  ),
  unproven(
    'a restarted log and a checkpoint of its lost part',
    holding(restarted(), async () => ({ checkpoints: [await noteOf(22, OTHER_ROOT)] })),
  ),

  verified(
    'good: the statement that the package is current',
    holding({}, async () => ({ status: await statusOf(CURRENT) })),
  ),
  verified(
    'good: the statement that the package is superseded',
    holding({}, async () => ({ status: await statusOf({ log: { size: 9, root: '0'.repeat(64) } }) })),
  ),
  ...Object.entries({
    'about other content': () => statusOf({}, { content: '0'.repeat(64) }),
    'with another sequence': () => statusOf({ sequence: 3 }),
    'with another epoch': () => statusOf({ epoch: 2 }),
    'from before the package': () => statusOf({ log: { size: 6, root: '0'.repeat(64) } }),
    'with another root of the log': () => statusOf({ log: { size: 7, root: '0'.repeat(64) } }),
    'from the future': () => statusOf({ as_of: '2032-01-01T00:00:00.000Z' }),
    'that is older than the package': () => statusOf({ ...CURRENT, since: '2026-01-01T00:00:00.000Z', as_of: '2026-01-01T00:00:00.000Z' }),
  }).map(([what, status]) =>
    failing(
      `a status statement ${what}`,
      ['status'],
      holding({}, async () => ({ status: await status() })),
    ),
  ),
];
