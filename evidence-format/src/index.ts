export { type BagInfo, bagInfoText, bagitText, bagValue, type Manifest, type ManifestEntry, manifestText, parseBagInfo, parseManifest } from './archive/bag.ts';
export { assertSafeNames, isSafeName, MAX_NAME_LENGTH, type NameFault, nameCheck, nameFaults, parseTopFolder, topFolder } from './archive/names.ts';
export { writeZip, type ZipEntry, type ZipOptions } from './archive/zip.ts';
export type { WrittenEntry } from './archive/zip-records.ts';
export { type Bytes, concat, equalBytes, fromBase64, fromHex, fromUtf8, toBase64, toHex, utf8 } from './bytes/bytes.ts';
export { crc32 } from './bytes/crc32.ts';
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
} from './bytes/der.ts';
export { assertFormat, FormatError } from './bytes/errors.ts';
export { createSha256, type Hasher, sha256, sha256Hex } from './bytes/sha256.ts';
export { chainLine, TRAIL_START, type TrailResult, verifyTrail } from './document/audit-trail.ts';
export { type Capture, collectionOf } from './document/collection.ts';
export { csvCell } from './document/csv.ts';
export * from './document/decisions.ts';
export * from './document/evidence.ts';
export * from './document/finding.ts';
export type * from './document/originals.ts';
export type * from './document/people.ts';
export * from './document/scan.ts';
export type * from './document/scope.ts';
export * from './document/states.ts';
export { canonicalJson, canonicalPieces } from './json/jcs.ts';
export { type JsonLimits, parseStrictJson } from './json/strict-json.ts';
export { type Schema, type SchemaFault, validate } from './json/validate.ts';
export {
  type Consistency,
  consistencyText,
  type GivenConsistency,
  leavesBytes,
  MAX_CARRIED_LEAVES,
  parseConsistency,
  parseConsistencyAnswer,
  parseLeaves,
} from './log/consistency.ts';
export {
  type Cosignature,
  cosignatureLine,
  cosignatureMessage,
  parseCosignature,
  parseWitnessVkey,
  type WitnessKey,
  witnessKeyId,
  witnessVkey,
} from './log/cosignature.ts';
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
} from './log/merkle.ts';
export {
  type Checkpoint,
  checkpointText,
  type LogEpochName,
  logOrigin,
  type Note,
  type NoteSignature,
  noteWith,
  parseCheckpoint,
  parseNote,
  parseOrigin,
  rekorOrigin,
  signerOf,
} from './log/note.ts';
export { type PackageStatus, packageStatusStatement, parsePackageStatus, type SignedPackageStatus } from './log/package-status.ts';
export { type LogPromise, leafEntry, promiseBytes } from './log/rekor.ts';
export {
  epochStatement,
  type KeySet,
  type KeySuccession,
  type LogEpoch,
  parseEpochStatement,
  parseSuccessionStatement,
  successionStatement,
} from './log/statements.ts';
export {
  loggedSuccession,
  parseSuccessions,
  type SuccessionEnvelope,
  type SuccessionKey,
  successionKeys,
  successionsText,
} from './log/succession.ts';
export { parseTlogProof, type TlogProof, tlogProofText } from './log/tlog-proof.ts';
export type { RenderContext } from './render/v2/context.ts';
export type { Tone } from './render/v2/dispositions.ts';
export { evidenceText, findingsText, TEXT_FORMATS, type TextFormat } from './render/v2/formats.ts';
export { bagInfoOf, readmeText } from './render/v2/readme.ts';
export { buildReport } from './render/v2/report/build-report.ts';
export type { Block, Cover, Fact, Line, Report, Row, Section, Table } from './render/v2/report/model.ts';
export { checkWords } from './render/v2/words/checks.ts';
export { reasonsOf } from './render/v2/words/conclusion.ts';
export { changeWords, decisionWords } from './render/v2/words/decisions.ts';
export { gapSentence } from './render/v2/words/gaps.ts';
export { VERDICT_WORDS } from './render/v2/words/labels.ts';
export { hidesText, printable, REPLACEMENT, revealed, withoutHidden } from './render/v2/words/printable.ts';
export {
  APPROVED_STATE_TYPE,
  type ApprovedArtifact,
  type ApprovedFinding,
  type ApprovedState,
  approvedStateDigest,
  approvedStateLines,
  approvedStateOf,
  decider,
} from './rules/approved-state.ts';
export { concludeFrom, countsOf, gradeOf } from './rules/conclude.ts';
export { FRAMEWORKS } from './rules/controls.ts';
export { CAUSES, causeOf, DECIDED } from './rules/decisions/causes.ts';
export { deriveEvidence, type Results, startDerivation } from './rules/derive.ts';
export { type FindingHistory, newFinding, nextHistory, recordedAt, statedFrom } from './rules/findings/finding-history.ts';
export { type Identities, identitiesOf, OWNERLESS } from './rules/identities.ts';
export { type ProvenanceFacts, provenanceOf } from './rules/provenance.ts';
export { type StandingFacts, type StandingFinding, scansAfter, standingFacts, standingOf } from './rules/standing.ts';
export { fieldOf, severityRank, textOf } from './rules/trail-values.ts';
export { collectWorkers, type Workers } from './rules/workers.ts';
export { findingSchema } from './schema/finding.ts';
export { evidenceSchema, schemaFiles } from './schema/schema.ts';
export { type ChainedEvent, trailEventSchema } from './schema/trail-event.ts';
export { BUNDLE_MEDIA_TYPE, type Bundle, type BundleLogEntry, type BundleParts, bundleJson, parseBundle } from './signing/bundle.ts';
export { type Envelope, envelopeOf, PAYLOAD_TYPE, preAuthEncoding } from './signing/dsse.ts';
export {
  jwkOf,
  KEY_LIST_VERSION,
  KEY_USES,
  type KeyList,
  keyIdOf,
  type ListedKey,
  type ListedKeyUse,
  type PublicJwk,
  parseKeyList,
} from './signing/key-list.ts';
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
} from './signing/keys.ts';
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
  supersededPackage,
} from './signing/statement.ts';
export { parseTimestampResponse, type TimestampResponse, type TimestampToken, type TstInfo, timestampRequest } from './signing/timestamp.ts';
