import { type Bytes, concat, equalBytes } from '../bytes/bytes.ts';
import { assertFormat } from '../bytes/errors.ts';
import { sha256 } from '../bytes/sha256.ts';

/** RFC 6962 section 2.1, RFC 9162 section 2.1. Tree sizes can exceed 32 bits, so the code divides instead of shifting. */

/** The complete subtree over the leaves from `index * 2^level` to `(index + 1) * 2^level - 1`. */
export interface NodeId {
  level: number;
  index: number;
}
export interface TreeNode extends NodeId {
  hash: Uint8Array;
}
/** Returns the hash of a complete subtree, or throws if it is not available. */
export type Lookup = (node: NodeId) => Uint8Array;

export const emptyRoot: Uint8Array = sha256(new Uint8Array());

export function leafHash(entry: Uint8Array): Bytes {
  return sha256(concat(Uint8Array.of(0), entry));
}

export function nodeHash(left: Uint8Array, right: Uint8Array): Bytes {
  return sha256(concat(Uint8Array.of(1), left, right));
}

export function rootFromLeaves(leafHashes: readonly Uint8Array[]): Uint8Array {
  return rootFrom(leafHashes.length, lookupIn(leafHashes));
}

function lookupIn(leafHashes: readonly Uint8Array[]): Lookup {
  const known = new Map<string, Uint8Array>();
  const lookup: Lookup = ({ level, index }) => {
    if (level === 0) return leafHashes[index] as Uint8Array;
    const key = `${level}/${index}`;
    const hash = known.get(key) ?? nodeHash(lookup({ level: level - 1, index: 2 * index }), lookup({ level: level - 1, index: 2 * index + 1 }));
    known.set(key, hash);
    return hash;
  };
  return lookup;
}

/** Returns the subtrees that leaf `index` completes, from the leaf itself to the largest. */
export function nodesAfterAppend(index: number, hash: Uint8Array, lookup: Lookup): TreeNode[] {
  assertIndex(index, Number.MAX_SAFE_INTEGER);
  const nodes: TreeNode[] = [{ level: 0, index, hash }];
  for (let level = 0, at = index; at % 2 === 1; level++) {
    const right = nodes.at(-1) as TreeNode;
    const left = lookup({ level, index: at - 1 });
    at = (at - 1) / 2;
    nodes.push({ level: level + 1, index: at, hash: nodeHash(left, right.hash) });
  }
  return nodes;
}

export function rootFrom(size: number, lookup: Lookup): Uint8Array {
  assertSize(size);
  return size === 0 ? emptyRoot : subtree(0, size, lookup);
}

/** RFC 9162 section 2.1.3.1. Hashes are ordered from the leaf to the root. */
export function inclusionProof(index: number, size: number, lookup: Lookup): Uint8Array[] {
  assertSize(size);
  assertIndex(index, size);
  const proof: Uint8Array[] = [];
  let [start, end] = [0, size];
  while (end - start > 1) {
    const middle = start + powerBelow(end - start);
    const [other, own] =
      index < middle
        ? ([
            [middle, end],
            [start, middle],
          ] as const)
        : ([
            [start, middle],
            [middle, end],
          ] as const);
    proof.unshift(subtree(other[0], other[1], lookup));
    [start, end] = own;
  }
  return proof;
}

/** RFC 9162 section 2.1.4.1. The proof is empty if the old tree is empty or the same. */
export function consistencyProof(oldSize: number, size: number, lookup: Lookup): Uint8Array[] {
  assertSize(size);
  assertFormat(Number.isInteger(oldSize) && oldSize >= 0 && oldSize <= size, 'the old tree must not be larger than the new one');
  const proof: Uint8Array[] = [];
  if (oldSize === 0) return proof;
  let [start, end] = [0, size];
  while (oldSize < end) {
    const middle = start + powerBelow(end - start);
    if (oldSize <= middle) {
      proof.unshift(subtree(middle, end, lookup));
      end = middle;
    } else {
      proof.unshift(subtree(start, middle, lookup));
      start = middle;
    }
  }
  // If start is 0, the remaining range is the old tree itself, whose root the verifier already has.
  if (start > 0) proof.unshift(subtree(start, end, lookup));
  return proof;
}

export const nodesForAppend = (index: number): NodeId[] => nodesUsedBy((lookup) => nodesAfterAppend(index, emptyRoot, lookup));
export const nodesForRoot = (size: number): NodeId[] => nodesUsedBy((lookup) => rootFrom(size, lookup));
export const nodesForInclusion = (index: number, size: number): NodeId[] => nodesUsedBy((lookup) => inclusionProof(index, size, lookup));
export const nodesForConsistency = (oldSize: number, size: number): NodeId[] => nodesUsedBy((lookup) => consistencyProof(oldSize, size, lookup));

/** The nodes that a computation looks up do not depend on their hashes, so callers can fetch all of them in advance. */
function nodesUsedBy(compute: (lookup: Lookup) => unknown): NodeId[] {
  const nodes: NodeId[] = [];
  compute((node) => {
    nodes.push(node);
    return emptyRoot;
  });
  return nodes;
}

/** Requires `start` to be a multiple of the largest power of two below the length. The RFC's recursion produces only such ranges. */
function subtree(start: number, end: number, lookup: Lookup): Uint8Array {
  const length = end - start;
  const power = powerBelow(length);
  if (length === 1 || length === 2 * power) return lookup({ level: levelOf(length), index: start / length });
  return nodeHash(subtree(start, start + power, lookup), subtree(start + power, end, lookup));
}

function levelOf(power: number): number {
  return power === 1 ? 0 : 1 + levelOf(power / 2);
}

/** The largest power of two smaller than `n`. */
function powerBelow(n: number): number {
  let power = 1;
  while (power * 2 < n) power *= 2;
  return power;
}

export interface InclusionClaim {
  index: number;
  size: number;
  leafHash: Uint8Array;
  proof: readonly Uint8Array[];
  root: Uint8Array;
}

/** RFC 9162 section 2.1.3.2. */
export function verifyInclusion({ index, size, leafHash: leaf, proof, root }: InclusionClaim): boolean {
  if (!isSize(size) || !Number.isInteger(index) || index < 0 || index >= size || ![leaf, root, ...proof].every(isHash)) return false;
  let fn = index;
  let sn = size - 1;
  let r = leaf;
  for (const p of proof) {
    if (sn === 0) return false;
    if (fn % 2 === 1 || fn === sn) {
      r = nodeHash(p, r);
      while (fn % 2 === 0 && fn !== 0) [fn, sn] = [half(fn), half(sn)];
    } else r = nodeHash(r, p);
    [fn, sn] = [half(fn), half(sn)];
  }
  return sn === 0 && equalBytes(r, root);
}

export interface ConsistencyClaim {
  oldSize: number;
  oldRoot: Uint8Array;
  size: number;
  root: Uint8Array;
  proof: readonly Uint8Array[];
}

/** RFC 9162 section 2.1.4.2. Also covers an empty old tree, which the RFC leaves out: empty root, empty proof. */
export function verifyConsistency({ oldSize, oldRoot, size, root, proof }: ConsistencyClaim): boolean {
  if (!isSize(oldSize) || !isSize(size) || oldSize > size || ![oldRoot, root, ...proof].every(isHash)) return false;
  if (oldSize === size) return proof.length === 0 && equalBytes(oldRoot, root);
  if (oldSize === 0) return proof.length === 0 && equalBytes(oldRoot, emptyRoot);
  const [first, ...rest] = isPowerOfTwo(oldSize) ? [oldRoot, ...proof] : proof;
  if (first === undefined) return false;
  let [fn, sn] = [oldSize - 1, size - 1];
  while (fn % 2 === 1) [fn, sn] = [half(fn), half(sn)];
  let [fr, sr] = [first, first];
  for (const c of rest) {
    if (sn === 0) return false;
    if (fn % 2 === 1 || fn === sn) {
      fr = nodeHash(c, fr);
      sr = nodeHash(c, sr);
      while (fn % 2 === 0 && fn !== 0) [fn, sn] = [half(fn), half(sn)];
    } else sr = nodeHash(sr, c);
    [fn, sn] = [half(fn), half(sn)];
  }
  return sn === 0 && equalBytes(fr, oldRoot) && equalBytes(sr, root);
}

function half(n: number): number {
  return Math.floor(n / 2);
}

function isPowerOfTwo(n: number): boolean {
  return n === 1 || powerBelow(n) * 2 === n;
}

function isHash(bytes: Uint8Array): boolean {
  return bytes.length === 32;
}

function isSize(size: number): boolean {
  return Number.isSafeInteger(size) && size >= 0;
}

function assertSize(size: number): void {
  assertFormat(isSize(size), 'not a valid tree size');
}

function assertIndex(index: number, size: number): void {
  assertFormat(Number.isInteger(index) && index >= 0 && index < size, 'not a valid leaf index');
}
