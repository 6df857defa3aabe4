export type { RequestRecord } from './answers.ts';
export * from './contract.ts';
export { createHttp, defaultLimits, type HttpHost, type HttpLimits, originsOf, type Sender } from './http.ts';
export { connectors } from './registry.ts';
