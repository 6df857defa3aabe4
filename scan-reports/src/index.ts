export * from './contract.ts';
export { detectFormat, headOf } from './detect.ts';
export { isScan } from './is-scan.ts';
export { recognise } from './recognise.ts';
export { formats } from './registry.ts';
export { fromBuffer } from './shared/input.ts';
export { leavesOutSuppressed } from './suppressed.ts';
