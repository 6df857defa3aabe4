export * from './core/contract.ts';
export { createHttp, defaultLimits, type HttpHost, type HttpLimits, originsOf, type Sender } from './core/http.ts';
export type { RequestRecord } from './core/responses.ts';
export { connectors } from './registry.ts';
