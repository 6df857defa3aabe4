export * from './core/connector-error.ts';
export * from './core/contract.ts';
export { createHttp } from './core/http.ts';
export { defaultLimits, type HttpHost, type HttpLimits, type Sender } from './core/http-host.ts';
export { originsOf } from './core/http-request.ts';
export type { RequestRecord } from './core/responses.ts';
export { asForm } from './core/settings/fields.ts';
export type { Ssvc } from './core/ssvc.ts';
export { connectors } from './registry.ts';
