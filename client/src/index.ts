export type * from './api.ts';
export { type Client, createClient } from './client.ts';
export { RrsConnectionError, RrsError } from './errors.ts';
export type { EventsOptions, RrsEvent } from './events.ts';
export { operations } from './operations.ts';
export { randomId } from './random-id.ts';
export type { ClientOptions } from './request.ts';
export type { InputOf, ItemOf, ListName, OperationName, ResultOf } from './types.ts';
export { counted, type Progress } from './upload.ts';
