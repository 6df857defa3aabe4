import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { equalBytes, utf8 } from '../bytes/bytes.ts';
import {
  consistencyProof,
  emptyRoot,
  inclusionProof,
  type Lookup,
  leafHash,
  type NodeId,
  nodeHash,
  nodesAfterAppend,
  nodesForAppend,
  nodesForConsistency,
  nodesForInclusion,
  nodesForRoot,
  rootFrom,
  verifyConsistency,
  verifyInclusion,
} from './merkle.ts';

/** Stores nodes like a database: each is written when its last leaf is appended. */
function stored(leaves: readonly Uint8Array[]): Lookup {
  const nodes = new Map<string, Uint8Array>();
  const lookup: Lookup = ({ level, index }) => {
    const hash = nodes.get(`${level}/${index}`);
    if (hash === undefined) throw new Error(`no node ${level}/${index}`);
    return hash;
  };
  leaves.forEach((leaf, at) => {
    for (const { level, index, hash } of nodesAfterAppend(at, leaf, lookup)) nodes.set(`${level}/${index}`, hash);
  });
  return lookup;
}

/** Returns only nodes that were requested in advance. */
function fetched(ids: readonly NodeId[], from: Lookup): Lookup {
  const nodes = new Map(ids.map((id) => [`${id.level}/${id.index}`, from(id)]));
  return ({ level, index }) => {
    const hash = nodes.get(`${level}/${index}`);
    if (hash === undefined) throw new Error(`node ${level}/${index} was not requested`);
    return hash;
  };
}

const MAX_LEAVES = 140;
const leaves = Array.from({ length: MAX_LEAVES }, (_, at) => leafHash(utf8(`entry ${at}`)));
let lookup: Lookup;
let roots: Uint8Array[];

beforeAll(() => {
  lookup = stored(leaves);
  roots = Array.from({ length: MAX_LEAVES + 1 }, (_, size) => naiveRoot(leaves.slice(0, size)));
});

/** RFC 6962 section 2.1, word for word. */
function naiveRoot(hashes: readonly Uint8Array[]): Uint8Array {
  if (hashes.length === 0) return emptyRoot;
  if (hashes.length === 1) return hashes[0] as Uint8Array;
  let k = 1;
  while (2 * k < hashes.length) k *= 2;
  return nodeHash(naiveRoot(hashes.slice(0, k)), naiveRoot(hashes.slice(k)));
}

test(`the root of every tree of up to ${MAX_LEAVES} leaves, can be computed from the requested nodes`, () => {
  for (let size = 0; size <= MAX_LEAVES; size++) {
    expect(equalBytes(rootFrom(size, fetched(nodesForRoot(size), lookup)), roots[size] as Uint8Array)).toBe(true);
  }
});

test('appending needs only the requested nodes', () => {
  for (let index = 0; index < MAX_LEAVES; index++) {
    const nodes = nodesAfterAppend(index, leaves[index] as Uint8Array, fetched(nodesForAppend(index), lookup));
    for (const node of nodes) expect(equalBytes(node.hash, lookup(node))).toBe(true);
  }
});

test(`every inclusion proof of every tree of up to ${MAX_LEAVES} leaves verifies`, { timeout: 120_000 }, () => {
  for (let size = 1; size <= MAX_LEAVES; size++) {
    const root = roots[size] as Uint8Array;
    for (let index = 0; index < size; index++) {
      const proof = inclusionProof(index, size, lookup);
      if (!verifyInclusion({ index, size, leafHash: leaves[index] as Uint8Array, proof, root })) expect.fail(`leaf ${index} of ${size}`);
    }
  }
});

test(`every consistency proof between trees of up to ${MAX_LEAVES} leaves verifies`, { timeout: 120_000 }, () => {
  for (let size = 0; size <= MAX_LEAVES; size++) {
    const root = roots[size] as Uint8Array;
    for (let oldSize = 0; oldSize <= size; oldSize++) {
      const proof = consistencyProof(oldSize, size, lookup);
      if (!verifyConsistency({ oldSize, oldRoot: roots[oldSize] as Uint8Array, size, root, proof })) expect.fail(`from ${oldSize} to ${size}`);
    }
  }
});

const size = fc.integer({ min: 1, max: MAX_LEAVES });

test('proofs need only the requested nodes', () => {
  fc.assert(
    fc.property(size, fc.nat(), (n, pick) => {
      const index = pick % n;
      expect(inclusionProof(index, n, fetched(nodesForInclusion(index, n), lookup))).toEqual(inclusionProof(index, n, lookup));
      expect(consistencyProof(index, n, fetched(nodesForConsistency(index, n), lookup))).toEqual(consistencyProof(index, n, lookup));
    }),
  );
});

const changes = fc.record({ what: fc.nat(), byte: fc.nat(31), bit: fc.nat(7), other: fc.nat(2 * MAX_LEAVES) });

function flipped(hash: Uint8Array, { byte, bit }: { byte: number; bit: number }): Uint8Array {
  const copy = hash.slice();
  copy[byte] = (copy[byte] as number) ^ (1 << bit);
  return copy;
}

test('refuses an inclusion proof with a changed hash or index', () => {
  fc.assert(
    fc.property(size, fc.nat(), changes, (n, pick, change) => {
      const index = pick % n;
      const proof = inclusionProof(index, n, lookup);
      const good = { index, size: n, leafHash: leaves[index] as Uint8Array, proof, root: roots[n] as Uint8Array };
      const at = change.what % (proof.length + 1);
      const bad = [
        { ...good, leafHash: flipped(good.leafHash, change) },
        { ...good, root: flipped(good.root, change) },
        { ...good, proof: proof.map((hash, i) => (i === at ? flipped(hash, change) : hash)) },
        { ...good, proof: proof.toSpliced(at, 1) },
        { ...good, proof: proof.toSpliced(at, 0, emptyRoot) },
        { ...good, index: change.other },
        { ...good, proof: proof.map((hash) => hash.subarray(0, 31)) },
      ].filter((claim) => JSON.stringify(claim) !== JSON.stringify(good));
      expect(verifyInclusion(good)).toBe(true);
      expect(bad.map(verifyInclusion)).toEqual(bad.map(() => false));
    }),
    { numRuns: 300 },
  );
});

test('refuses an inclusion proof for another size unless the leaf has the same path in it', () => {
  fc.assert(
    fc.property(size, fc.nat(), fc.integer({ min: 1, max: 2 * MAX_LEAVES }), (n, pick, other) => {
      const index = pick % n;
      const claim = { index, size: other, leafHash: leaves[index] as Uint8Array, proof: inclusionProof(index, n, lookup), root: roots[n] as Uint8Array };
      expect(verifyInclusion(claim)).toBe(samePath(index, n, other));
    }),
    { numRuns: 500 },
  );
});

/** The sides of the siblings on the path. An inclusion proof binds the size only as far as the path differs; the signed checkpoint binds it fully. */
function sides(index: number, n: number): string {
  return index >= n ? 'none' : nodesForSides(index, 0, n);
}

function nodesForSides(index: number, start: number, end: number): string {
  if (end - start === 1) return '';
  let k = 1;
  while (2 * k < end - start) k *= 2;
  return index < start + k ? `${nodesForSides(index, start, start + k)}R` : `${nodesForSides(index, start + k, end)}L`;
}

function samePath(index: number, a: number, b: number): boolean {
  return sides(index, a) === sides(index, b);
}

test('refuses a consistency proof with a changed hash or for other sizes', () => {
  fc.assert(
    fc.property(fc.integer({ min: 2, max: MAX_LEAVES }), fc.nat(), changes, (n, pick, change) => {
      const oldSize = 1 + (pick % (n - 1));
      const proof = consistencyProof(oldSize, n, lookup);
      const good = { oldSize, oldRoot: roots[oldSize] as Uint8Array, size: n, root: roots[n] as Uint8Array, proof };
      const at = change.what % (proof.length + 1);
      const bad = [
        { ...good, oldRoot: flipped(good.oldRoot, change) },
        { ...good, root: flipped(good.root, change) },
        { ...good, proof: proof.map((hash, i) => (i === at ? flipped(hash, change) : hash)) },
        { ...good, proof: proof.toSpliced(at, 1) },
        { ...good, proof: proof.toSpliced(at, 0, emptyRoot) },
        { ...good, oldSize: n + 1 },
        { ...good, oldSize: 0 },
        { ...good, size: oldSize },
        { ...good, oldRoot: roots[oldSize - 1] as Uint8Array },
        { ...good, root: roots[n - 1] as Uint8Array },
      ].filter((claim) => JSON.stringify(claim) !== JSON.stringify(good));
      expect(verifyConsistency(good)).toBe(true);
      expect(bad.map(verifyConsistency)).toEqual(bad.map(() => false));
    }),
    { numRuns: 300 },
  );
});

test('a rewritten leaf breaks consistency with every earlier tree that contains it', () => {
  const rewritten = leaves.with(3, leafHash(utf8('another')));
  const other = stored(rewritten);
  for (let oldSize = 4; oldSize < 40; oldSize++) {
    const claim = { oldSize, oldRoot: roots[oldSize] as Uint8Array, size: 40, root: rootFrom(40, other), proof: consistencyProof(oldSize, 40, other) };
    expect(verifyConsistency(claim)).toBe(false);
  }
});

test('proofs work for trees of up to 2^53 - 1 leaves', () => {
  const syntheticNode: Lookup = ({ level, index }) => leafHash(utf8(`${level}/${index}`));
  const huge = fc.integer({ min: 2 ** 31, max: Number.MAX_SAFE_INTEGER });
  fc.assert(
    fc.property(huge, fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), (n, part) => {
      const index = Math.floor(part * n);
      const nodes = nodesForInclusion(index, n);
      for (const node of nodes) expect((node.index + 1) * 2 ** node.level).toBeLessThanOrEqual(n);
      expect(nodes.length).toBeLessThanOrEqual(2 * 53);
      const proof = inclusionProof(index, n, syntheticNode);
      const root = pathRoot(index, 0, n, syntheticNode);
      expect(verifyInclusion({ index, size: n, leafHash: syntheticNode({ level: 0, index }), proof, root })).toBe(true);
    }),
  );
});

/** Computes the root from one leaf and looks up the siblings on its path. */
function pathRoot(index: number, start: number, end: number, syntheticNode: Lookup): Uint8Array {
  if (end - start === 1) return syntheticNode({ level: 0, index });
  let k = 1;
  while (2 * k < end - start) k *= 2;
  const side = (from: number, to: number): Uint8Array =>
    index >= from && index < to ? pathRoot(index, from, to, syntheticNode) : wholeRange(from, to, syntheticNode);
  return nodeHash(side(start, start + k), side(start + k, end));
}

function wholeRange(start: number, end: number, syntheticNode: Lookup): Uint8Array {
  const length = end - start;
  const level = Math.round(Math.log2(length));
  if (2 ** level === length) return syntheticNode({ level, index: start / length });
  let k = 1;
  while (2 * k < length) k *= 2;
  return nodeHash(wholeRange(start, start + k, syntheticNode), wholeRange(start + k, end, syntheticNode));
}

test('refuses a proof that continues above the root', () => {
  const [a, b, c] = leaves as [Uint8Array, Uint8Array, Uint8Array];
  expect(verifyInclusion({ index: 0, size: 1, leafHash: a, proof: [b], root: nodeHash(b, a) })).toBe(false);
  expect(verifyInclusion({ index: 1, size: 2, leafHash: a, proof: [b, c], root: nodeHash(c, nodeHash(b, a)) })).toBe(false);
  const old = nodeHash(a, b);
  expect(verifyConsistency({ oldSize: 2, oldRoot: old, size: 3, root: nodeHash(old, c), proof: [c] })).toBe(true);
  expect(verifyConsistency({ oldSize: 2, oldRoot: nodeHash(a, old), size: 3, root: nodeHash(a, nodeHash(old, c)), proof: [c, a] })).toBe(false);
  expect(
    verifyConsistency({ oldSize: 3, oldRoot: nodeHash(a, nodeHash(old, c)), size: 4, root: nodeHash(a, nodeHash(old, nodeHash(c, b))), proof: [c, b, old, a] }),
  ).toBe(false);
});

test('refuses invalid sizes and indexes', () => {
  expect(() => inclusionProof(5, 5, lookup)).toThrow('not a valid leaf index');
  expect(() => inclusionProof(-1, 5, lookup)).toThrow('not a valid leaf index');
  expect(() => inclusionProof(0.5, 5, lookup)).toThrow('not a valid leaf index');
  expect(() => rootFrom(-1, lookup)).toThrow('size');
  expect(() => rootFrom(2 ** 53, lookup)).toThrow('size');
  expect(() => consistencyProof(6, 5, lookup)).toThrow('larger');
  expect(verifyInclusion({ index: 0, size: 0, leafHash: emptyRoot, proof: [], root: emptyRoot })).toBe(false);
  expect(verifyInclusion({ index: 0.5, size: 1, leafHash: emptyRoot, proof: [], root: emptyRoot })).toBe(false);
  expect(verifyConsistency({ oldSize: 0, oldRoot: leaves[0] as Uint8Array, size: 1, root: roots[1] as Uint8Array, proof: [] })).toBe(false);
});
