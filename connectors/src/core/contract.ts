import type { Asset, Rejection, ReportItem, RunFacts } from '@rrs/scan-reports';
import type { Static, TObject, TSchema } from 'typebox';
import type { FaultKind } from './connector-error.ts';
import { withAuthority } from './settings/certificates.ts';
import type { Ssvc } from './ssvc.ts';

/**
 * What a connector provides. A connector knows its vendor and nothing else. The host handles requests, retries, limits, credentials, batches and
 * schedules, and decides which findings a run may close.
 */

export const connectorKinds = ['scanner', 'enrichment', 'ticketing'] as const;
export type ConnectorKind = (typeof connectorKinds)[number];

export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };

export interface Settings<C extends TObject = TObject, S extends TObject = TObject> {
  config: Static<C>;
  credentials: Static<S>;
}

export interface SettingsProblem {
  /** The path of the field: `/config/url`. */
  path: string;
  /** Completes a sentence that starts with the field's name: "is required when …". */
  detail: string;
}

export interface Session {
  /** The token that `login` returned. Empty if there is no `login`, or if it returned null. */
  token: string;
}

export interface OutgoingRequest {
  method: string;
  url: URL;
  body: string | undefined;
}

/** A response with an unexpected status. The text is its beginning. */
export interface RefusedRequest {
  status: number;
  headers: Readonly<Record<string, string>>;
  text: string;
}

interface ConnectorBase<C extends TObject, S extends TObject> {
  /** Also the name of the folder and the source of the findings. */
  id: string;
  name: string;
  /** Increases when settings stored by the previous version are no longer valid. */
  version: number;
  /** One or two sentences, shown in the list of connectors. */
  description: string;
  /** URL of the vendor's API documentation. */
  documentation: string;
  /** What the credentials must be allowed to do, in the vendor's terms. Part of the error message when the vendor refuses them. */
  permissions: string;
  /** Every field has a title, a description and, if it is free text, an example. */
  config: C;
  /** Like `config`. Declare secret fields with `Secret`, which needs the vendor's page where the secret is created. */
  credentials: S;
  /** Checks what the schemas cannot express, such as two fields that exclude each other. Called after the schemas are satisfied. */
  problems?(settings: Settings<C, S>): readonly SettingsProblem[];
  /** The URL that request paths are relative to. Requests go only to its origin and to `origins`. */
  baseUrl(settings: Settings<C, S>): string;
  /** URLs of further origins that the connector needs, such as a token endpoint. */
  origins?(settings: Settings<C, S>): readonly string[];
  /** Exchanges the credentials for a token. Called again when the token has expired or is refused. Returns null for credentials that need no exchange. */
  login?(context: Settings<C, S> & { http: Http }): Promise<{ token: string; expiresInSeconds: number } | null>;
  /** Returns the headers that authenticate a request. Called for every request. */
  authorize(settings: Settings<C, S> & Session, request: OutgoingRequest): Record<string, string>;
  /** For vendors that signal a rate limit with a status other than 429. Returns the minimum wait in seconds, or null if the response is not a rate limit. */
  rateLimited?(status: number, headers: Readonly<Record<string, string>>): number | null;
  /** For vendors that say only in the text of a response what is wrong. Returns null if the status says enough. */
  explain?(response: RefusedRequest): { kind: FaultKind; message: string } | null;
  /** Makes one cheap request that fails if the settings are wrong. */
  check(context: Context<C, S>): Promise<void>;
}

export interface Context<C extends TObject = TObject, S extends TObject = TObject> extends Settings<C, S> {
  http: Http;
  signal: AbortSignal;
  /** When the run started. */
  startedAt: Date;
}

export interface RunContext<C extends TObject = TObject, S extends TObject = TObject> extends Context<C, S> {
  /** The checkpoint of the last saved batch of this run, where an interrupted run resumes. Null at the start. */
  checkpoint: Json;
  /** The cursor that the last successful run returned: changes since then are enough. Null requests everything. */
  cursor: Json;
}

export type ScanOfAsset = RunFacts & { asset: Asset };

/** A project or another part of the vendor's data that the credentials may not read, or that no longer exists. The run continues with the others. */
export interface Unread {
  /** Names the part: "project acme:shop". */
  what: string;
  kind: FaultKind;
  reason: string;
  /** The asset that the part is about. It is then partially covered. */
  asset?: Asset;
}

export interface FindingBatch {
  items: readonly ReportItem[];
  /** Assets that the vendor scanned, with or without findings. */
  covers?: readonly Asset[];
  /** Assets that only some of the vendor's scanners examined, or where that is unknown. No finding on them is closed because it is missing from the run. */
  partiallyCovers?: readonly Asset[];
  /** What the vendor states about its scans of single assets: when, with which version and knowledge, whether it could log in. These assets are covered. */
  scans?: readonly ScanOfAsset[];
  /** Parts that could not be read. The run then ends as partial and names them. */
  unread?: readonly Unread[];
  /** Where to resume after this batch. Unique within a run. */
  checkpoint: Json;
}

export interface RunResult {
  /** `complete`: everything the vendor has on the covered assets, so missing findings are fixed. `changes`: only what changed since the cursor. */
  coverage: 'complete' | 'changes';
  /** For the next run. Null if the vendor cannot list changes. */
  cursor: Json;
}

export interface Scanner<C extends TObject = TObject, S extends TObject = TObject> extends ConnectorBase<C, S> {
  kind: 'scanner';
  findings(context: RunContext<C, S>): AsyncGenerator<FindingBatch, RunResult>;
}

/** Facts about a vulnerability. Absent fields leave the stored values unchanged. */
export interface Knowledge {
  id: string;
  aliases?: readonly string[];
  cwes?: readonly number[];
  cvss?: readonly { vector: string; score?: number }[];
  epss?: { score: number; percentile: number; date: string };
  kev?: { listed: boolean; dueDate: string | null; version: string };
  exploitPublic?: boolean;
  ssvc?: Ssvc;
}

export interface KnowledgeBatch {
  items: readonly Knowledge[];
  /** Records that could not be read. They do not fail the batch. */
  rejected?: readonly Rejection[];
  checkpoint: Json;
}

export interface KnowledgeResult {
  cursor: Json;
  /** The vendor's date or version of the data: "2026-11-14", "2026.11.14". */
  asOf: string;
  /** `kev`: the batches contained the whole catalog, so vulnerabilities missing from it are no longer listed. */
  complete?: 'kev';
}

export interface Enrichment<C extends TObject = TObject, S extends TObject = TObject> extends ConnectorBase<C, S> {
  kind: 'enrichment';
  /** `wanted` pages through the ids of the vulnerabilities that findings have, for vendors that are queried by id. */
  knowledge(context: RunContext<C, S> & { wanted(after: string | null): Promise<readonly string[]> }): AsyncGenerator<KnowledgeBatch, KnowledgeResult>;
}

export const ticketStates = ['open', 'in_progress', 'done', 'rejected'] as const;
export type TicketState = (typeof ticketStates)[number];
export type Priority = 'critical' | 'high' | 'medium' | 'low';

/** What the service writes into a new ticket. */
export interface TicketDraft {
  /** The service's own key. `find` finds the ticket by it. */
  key: string;
  title: string;
  /** Paragraphs of plain text. */
  body: readonly string[];
  priority: Priority;
  /** A date: 2026-11-30. */
  dueDate: string | null;
  /** The URL of the work item. */
  url: string;
}

export interface Ticket {
  /** The vendor's id, used in requests. */
  id: string;
  /** The name people know it by: SEC-24. */
  key: string;
  url: string;
  state: TicketState;
  /** The vendor's name of the state. */
  stateName: string;
  title: string;
  /** Null if the vendor's priority is not mapped to one of the service's. */
  priority: Priority | null;
  /** A date: 2026-11-30. */
  dueDate: string | null;
  assignee: string | null;
  updatedAt: Date;
  /** The vendor's own record as received. It becomes evidence. */
  raw: Json;
}

/** The fields to change. All others keep their values. */
export type TicketChange = Partial<Pick<TicketDraft, 'title' | 'body' | 'priority' | 'dueDate'>> & { state?: TicketState };

/** The original of the record that a link points to, as the vendor sent it. */
export interface Capture {
  bytes: Buffer;
  mediaType: string;
  /** One sentence that says what the record is and where it is from. */
  description: string;
}

export interface Ticketing<C extends TObject = TObject, S extends TObject = TObject> extends ConnectorBase<C, S> {
  kind: 'ticketing';
  find(context: Context<C, S>, key: string): Promise<Ticket | null>;
  create(context: Context<C, S>, draft: TicketDraft): Promise<Ticket>;
  read(context: Context<C, S>, id: string): Promise<Ticket | null>;
  update(context: Context<C, S>, id: string, change: TicketChange): Promise<Ticket>;
  comment(context: Context<C, S>, id: string, text: string): Promise<void>;
  /** Yields this connection's tickets that changed, oldest change first. */
  changedSince(context: Context<C, S>, since: Date): AsyncGenerator<readonly Ticket[]>;
  /** Verifies and parses a webhook request from the vendor. Returns null if its signature is invalid. */
  inbound?(settings: Settings<C, S>, message: InboundMessage): Inbound | null;
  /** Fetches the record that a link points to, within what the credentials may read. Returns null for links to other systems. */
  capture?(context: Context<C, S>, url: string): Promise<Capture | null>;
}

/** A webhook request with a valid signature. */
export interface Inbound {
  /** The id of the ticket that changed. Null for test requests and for events about something other than a ticket. */
  ticket: string | null;
}

export interface InboundMessage {
  /** Names are in lower case. */
  headers: Readonly<Record<string, string | undefined>>;
  body: Buffer;
}

export type Connector = Scanner | Enrichment | Ticketing;

export interface HttpRequest {
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Relative to the base URL, or an absolute URL within the allowed origins. */
  path: string;
  query?: Readonly<Record<string, string | number | boolean | readonly string[] | null | undefined>>;
  headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  json?: Json;
  /** Sent as application/x-www-form-urlencoded. */
  form?: Readonly<Record<string, string>>;
  /** The request may be retried although it is not a GET: a search, a token request. */
  repeatable?: boolean;
  /** Statuses other than 2xx that the connector handles itself. */
  accept?: readonly number[];
  /** For `text`: whether the response is complete. If it returns false, the request is retried. */
  isComplete?(text: string): boolean;
}

export interface HttpResponse<T> {
  status: number;
  /** Names are in lower case. */
  headers: Readonly<Record<string, string>>;
  body: T;
}

/** Limited to the configured origins. Retries, honors Retry-After, enforces limits and records every request. An error that it throws ends the run. */
export interface Http {
  getJson<T extends TSchema>(path: string, schema: T, query?: HttpRequest['query']): Promise<Static<T>>;
  json<T extends TSchema>(schema: T, request: HttpRequest): Promise<HttpResponse<Static<T>>>;
  text(request: HttpRequest): Promise<HttpResponse<string>>;
  /** For responses that are too large for memory. */
  stream(request: HttpRequest): Promise<HttpResponse<AsyncIterable<Uint8Array>>>;
  /** Waits between two status polls, longer with each attempt. Counts against the time limit of the run. */
  pause(attempt: number): Promise<void>;
}

export function defineScanner<C extends TObject, S extends TObject>(scanner: Omit<Scanner<C, S>, 'kind'>): Scanner {
  return { ...scanner, config: withAuthority(scanner.config), kind: 'scanner' };
}

/** Only an operator decides which authorities to trust for data that all organizations share. */
export function defineEnrichment<C extends TObject, S extends TObject>(enrichment: Omit<Enrichment<C, S>, 'kind'>): Enrichment {
  return { ...enrichment, kind: 'enrichment' };
}

export function defineTicketing<C extends TObject, S extends TObject>(ticketing: Omit<Ticketing<C, S>, 'kind'>): Ticketing {
  return { ...ticketing, config: withAuthority(ticketing.config), kind: 'ticketing' };
}
