export { type BlobLike, blobSource, bytesSource, type Source } from './archive/source.ts';
export { requireReadable } from './checks/checkpoints.ts';
export { CODES, type Code, LAYERS, type LayerName } from './codes.ts';
export { browserPlatform, type Platform } from './platform.ts';
export type { Failure, Layer, PackageSummary, Report } from './report.ts';
export { TAKEN_ON_TRUST, type TrustCode } from './taken-on-trust.ts';
export { addKeys, type KeyFile, keyFilesIn } from './trust/key-files.ts';
export { emptyTrust, type Trust } from './trust/trust.ts';
export { verifyPackage } from './verify.ts';
