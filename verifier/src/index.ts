export { CODES, type Code, LAYERS, type LayerName } from './codes.ts';
export { addKeys, type KeyFile, keyFilesIn } from './key-files.ts';
export { browserPlatform, type Platform } from './platform.ts';
export type { Failure, Layer, PackageSummary, Report } from './report.ts';
export { type BlobLike, blobSource, bytesSource, type Source } from './source.ts';
export { emptyTrust, type Trust } from './trust.ts';
export { verifyPackage } from './verify.ts';
