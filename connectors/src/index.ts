export * from './contract.ts';
export { createHttp, defaultLimits, type HttpHost, type HttpLimits, type RequestRecord, redactor, type Sender } from './http.ts';
export { connectors } from './registry.ts';
