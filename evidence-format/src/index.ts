export { chainLine, TRAIL_START, type TrailResult, verifyTrail } from './audit-trail.ts';
export { type BagInfo, bagInfoText, bagitText, bagValue, type Manifest, type ManifestEntry, manifestText, parseBagInfo, parseManifest } from './bag.ts';
export { BUNDLE_MEDIA_TYPE, type Bundle, type BundleLogEntry, type BundleParts, bundleJson, parseBundle } from './bundle.ts';
export { type Bytes, concat, equalBytes, fromBase64, fromHex, fromUtf8, toBase64, toHex, utf8 } from './bytes.ts';
export { type Consistency, consistencyText, parseConsistency } from './consistency.ts';
export { crc32 } from './crc32.ts';
export { csvCell } from './csv.ts';
export {
  childrenOf,
  contextTag,
  type Der,
  derInteger,
  derOid,
  expectTag,
  readDer,
  readGeneralizedTime,
  readInteger,
  readOid,
  TAG,
  writeDer,
} from './der.ts';
export { type Envelope, envelopeOf, PAYLOAD_TYPE, preAuthEncoding } from './dsse.ts';
export { assertFormat, FormatError } from './errors.ts';
export * from './evidence.ts';
export { canonicalJson, canonicalPieces } from './jcs.ts';
export { type JsonLimits, parseStrictJson } from './json.ts';
export {
  ed25519RawFromSpki,
  logId,
  noteKeyIdEcdsa,
  noteKeyIdEd25519,
  opensshFingerprint,
  parseVkey,
  pemFromSpki,
  spkiFromEd25519Raw,
  spkiFromPem,
  vkey,
} from './keys.ts';
export {
  type ConsistencyClaim,
  consistencyProof,
  emptyRoot,
  type InclusionClaim,
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
  rootFromLeaves,
  type TreeNode,
  verifyConsistency,
  verifyInclusion,
} from './merkle.ts';
export { assertSafeNames, isSafeName, LONGEST_NAME, type NameFault, nameCheck, nameFaults, parseTopFolder, topFolder } from './names.ts';
export { type Checkpoint, checkpointText, type Note, type NoteSignature, noteWith, parseCheckpoint, parseNote } from './note.ts';
export { type ReadmeFacts, readmeText } from './readme.ts';
export { type LogPromise, leafEntry, promiseBytes } from './rekor.ts';
export { concludeFrom, countsOf, gradeOf, reasonsOf, weightOf } from './rules.ts';
export { evidenceSchema, evidenceSchemaText } from './schema.ts';
export { createSha256, type Hasher, sha256, sha256Hex } from './sha256.ts';
export {
  PREDICATE_TYPE,
  type Predicate,
  parseStatement,
  predicateOf,
  STATEMENT_TYPE,
  type Statement,
  SUBJECTS,
  type SubjectHashes,
  statementBytes,
} from './statement.ts';
export { parseTimestampResponse, type TimestampResponse, type TimestampToken, type TstInfo, timestampRequest } from './timestamp.ts';
export { parseTlogProof, type TlogProof, tlogProofText } from './tlog-proof.ts';
export { type Schema, type SchemaFault, validate } from './validate.ts';
export { writeZip, type ZipEntry, type ZipOptions } from './zip.ts';
export type { WrittenEntry } from './zip-records.ts';
