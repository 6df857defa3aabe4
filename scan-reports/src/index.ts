export * from './contract.ts';
export { detectFormat, headOf } from './detect.ts';
export { fromBuffer } from './input.ts';
export { recognise } from './recognise.ts';
export { formats } from './registry.ts';
