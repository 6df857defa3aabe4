import type { Asset, Rejection, ReportItem } from '@rrs/scan-reports';
import { type Static, type TObject, type TSchema, Type } from 'typebox';

/** What a vendor's folder has to provide. It knows the vendor and nothing else: requests, retries, limits, batches and what a run may close are the host's. */

export const connectorKinds = ['scanner', 'enrichment', 'ticketing'] as const;
export type ConnectorKind = (typeof connectorKinds)[number];

/** Anything that JSON can say. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };

export interface Settings<C extends TObject = TObject, S extends TObject = TObject> {
  config: Static<C>;
  credentials: Static<S>;
}

export interface SettingsProblem {
  /** The field: `/config/url`. */
  path: string;
  /** Goes on after its name: "is required beside …". */
  detail: string;
}

export interface Session {
  /** What `login` gave; empty where there is none. */
  token: string;
}

export interface OutgoingRequest {
  method: string;
  url: URL;
  body: string | undefined;
}

interface Described<C extends TObject, S extends TObject> {
  /** Also the folder's name and the source of its findings. */
  id: string;
  name: string;
  /** Grows when stored settings of the version before would no longer do. */
  version: number;
  /** One or two sentences for people who choose it from a list. */
  description: string;
  /** Where the vendor documents the interface. */
  documentation: string;
  /** What the credentials must be allowed to do, in the vendor's words; part of the message when they are refused. */
  permissions: string;
  /** Every field with a title and a description; a secret one made by `Secret`. */
  config: C;
  credentials: S;
  /** What the schemas cannot say, as that two fields exclude each other; asked when they are satisfied. */
  problems?(settings: Settings<C, S>): readonly SettingsProblem[];
  /** The address that paths are relative to. Requests go to its origin alone. */
  baseUrl(settings: Settings<C, S>): string;
  /** Other origins that it needs, as for tokens. */
  origins?(settings: Settings<C, S>): readonly string[];
  /** For credentials that are exchanged for a token first. Asked again when the token is refused or has expired. */
  login?(context: Settings<C, S> & { http: Http }): Promise<{ token: string; expiresInSeconds: number }>;
  /** Headers that prove who asks; called for every request. */
  authorize(settings: Settings<C, S> & Session, request: OutgoingRequest): Record<string, string>;
  /** For vendors that say "too often" with another status than 429: for how many seconds to leave them alone at least; null where it means something else. */
  rateLimited?(status: number, headers: Readonly<Record<string, string>>): number | null;
  /** One cheap request that fails when the settings are wrong. */
  check(context: Context<C, S>): Promise<void>;
}

export interface Context<C extends TObject = TObject, S extends TObject = TObject> extends Settings<C, S> {
  http: Http;
  signal: AbortSignal;
  /** When the run began. */
  startedAt: Date;
}

/** How far a run has come: `checkpoint` is what the latest kept batch had, null at the beginning; a run that was killed goes on from there. */
export interface RunContext<C extends TObject = TObject, S extends TObject = TObject> extends Context<C, S> {
  checkpoint: Json;
  /** What the last run that came to its end returned: changes since then are enough. Null: everything is wanted. */
  cursor: Json;
}

export interface FindingBatch {
  items: readonly ReportItem[];
  /** Looked at by the vendor, whether or not anything was found there. */
  covers?: readonly Asset[];
  /** Looked at by some of the vendor's scanners alone, the others being off or unknown: nothing is closed there by absence, also where something was observed. */
  partly?: readonly Asset[];
  /** Where to go on after this batch. Never the same twice in a run. */
  checkpoint: Json;
}

export interface RunResult {
  /** `complete`: everything the vendor has on the assets that were covered, so what is missing is gone. `changes`: only what changed since the cursor. */
  coverage: 'complete' | 'changes';
  /** For the next run; null where the vendor can only tell everything. */
  cursor: Json;
}

export interface Scanner<C extends TObject = TObject, S extends TObject = TObject> extends Described<C, S> {
  kind: 'scanner';
  findings(context: RunContext<C, S>): AsyncGenerator<FindingBatch, RunResult>;
}

/** What is known of a vulnerability; what is absent is left as it is. */
export interface Knowledge {
  id: string;
  aliases?: readonly string[];
  cwes?: readonly number[];
  cvss?: readonly { vector: string; score?: number }[];
  epss?: { score: number; percentile: number; date: string };
  kev?: { listed: boolean; dueDate: string | null; version: string };
  exploitPublic?: boolean;
}

export interface KnowledgeBatch {
  items: readonly Knowledge[];
  /** Records that could not be read; the others go on. */
  rejected?: readonly Rejection[];
  checkpoint: Json;
}

export interface KnowledgeResult {
  cursor: Json;
  /** The date of what was learned, as the vendor gives it: "2026-11-14", "2026.11.14". */
  asOf: string;
  /** `kev`: the batches were the whole catalogue, so what they lack is listed no more. */
  complete?: 'kev';
}

export interface Enrichment<C extends TObject = TObject, S extends TObject = TObject> extends Described<C, S> {
  kind: 'enrichment';
  /** `wanted` pages through the vulnerabilities that findings have, for vendors that are asked about each. */
  knowledge(context: RunContext<C, S> & { wanted(after: string | null): Promise<readonly string[]> }): AsyncGenerator<KnowledgeBatch, KnowledgeResult>;
}

export const ticketStates = ['open', 'in_progress', 'done', 'rejected'] as const;
export type TicketState = (typeof ticketStates)[number];
export type Priority = 'critical' | 'high' | 'medium' | 'low';

/** What we write into a ticket. */
export interface TicketDraft {
  /** Ours; the ticket is found again by it. */
  key: string;
  title: string;
  /** Paragraphs of plain text. */
  body: readonly string[];
  priority: Priority;
  dueDate: string | null;
  /** Of the work item. */
  url: string;
}

export interface Ticket {
  /** The vendor's id for requests. */
  id: string;
  /** The name people know it by: SEC-24. */
  key: string;
  url: string;
  state: TicketState;
  /** In the vendor's words. */
  stateName: string;
  title: string;
  /** Null where it is none of ours. */
  priority: Priority | null;
  /** As in a draft: 2026-11-30. */
  dueDate: string | null;
  assignee: string | null;
  updatedAt: Date;
  /** The vendor's own record, as received: it becomes evidence. */
  raw: Json;
}

/** What is to be different; the rest stays as people left it. */
export type TicketChange = Partial<Pick<TicketDraft, 'title' | 'body' | 'priority' | 'dueDate'>> & { state?: TicketState };

/** The original of something that a link leads to, as the vendor gave it. */
export interface Capture {
  bytes: Buffer;
  mediaType: string;
  /** One sentence for people: what it is and where it is from. */
  description: string;
}

export interface Ticketing<C extends TObject = TObject, S extends TObject = TObject> extends Described<C, S> {
  kind: 'ticketing';
  find(context: Context<C, S>, key: string): Promise<Ticket | null>;
  create(context: Context<C, S>, draft: TicketDraft): Promise<Ticket>;
  read(context: Context<C, S>, id: string): Promise<Ticket | null>;
  update(context: Context<C, S>, id: string, change: TicketChange): Promise<Ticket>;
  comment(context: Context<C, S>, id: string, text: string): Promise<void>;
  /** Tickets of this connection that changed, oldest change first. */
  changedSince(context: Context<C, S>, since: Date): AsyncGenerator<readonly Ticket[]>;
  /** What a webhook of the vendor says; null when its signature does not hold. */
  inbound?(settings: Settings<C, S>, message: InboundMessage): Inbound | null;
  /** Reads what a link of the vendor's leads to, whatever the credentials may read there; null for links that are not its own. */
  capture?(context: Context<C, S>, url: string): Promise<Capture | null>;
}

/** A message that is genuine. Vendors send some when a webhook is made, and about other things than tickets. */
export interface Inbound {
  /** The id of the ticket that it is about. */
  ticket: string | null;
}

export interface InboundMessage {
  /** Lower case. */
  headers: Readonly<Record<string, string | undefined>>;
  body: Buffer;
}

export type Connector = Scanner | Enrichment | Ticketing;

export interface HttpRequest {
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Relative to the base address, or absolute within its origin. */
  path: string;
  query?: Readonly<Record<string, string | number | boolean | readonly string[] | null | undefined>>;
  headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  json?: Json;
  /** Sent as a form. */
  form?: Readonly<Record<string, string>>;
  /** May be repeated without harm though it is not a GET: a search, a token. */
  repeatable?: boolean;
  /** Statuses beside 2xx that the connector deals with itself. */
  accept?: readonly number[];
  /** For `text`: whether this is all of what was asked for. If not, it is asked for again. */
  whole?(text: string): boolean;
}

export interface HttpAnswer<T> {
  status: number;
  /** Lower case. */
  headers: Readonly<Record<string, string>>;
  body: T;
}

/** Bound to the configured origin. Retries, waits for Retry-After, counts and records by itself; what it throws ends the run. */
export interface Http {
  getJson<T extends TSchema>(path: string, schema: T, query?: HttpRequest['query']): Promise<Static<T>>;
  json<T extends TSchema>(schema: T, request: HttpRequest): Promise<HttpAnswer<Static<T>>>;
  text(request: HttpRequest): Promise<HttpAnswer<string>>;
  /** For what is too large to be held. */
  stream(request: HttpRequest): Promise<HttpAnswer<AsyncIterable<Uint8Array>>>;
  /** Between two questions of "are you done yet". Longer from time to time; counts against the run's time. */
  pause(attempt: number): Promise<void>;
}

export type FaultKind =
  /** The credentials were refused. */
  | 'credentials'
  /** Something that was configured is not there. */
  | 'configuration'
  | 'rate_limited'
  /** No connection, no answer in time, or an error of the vendor's. */
  | 'unavailable'
  /** An answer that is not what the vendor documents. */
  | 'invalid_answer'
  /** The vendor says itself that something is missing, or pages repeat or never end. */
  | 'incomplete';

/** Ends the run. The message says what is wrong, for a person. */
export class ConnectorError extends Error {
  readonly kind: FaultKind;
  constructor(kind: FaultKind, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'ConnectorError';
    this.kind = kind;
  }
}

/** A field that is stored encrypted and never shown again. */
export function Secret(title: string, description: string) {
  return Type.String({ title, description, writeOnly: true, minLength: 1, maxLength: 10_000 });
}

export function defineScanner<C extends TObject, S extends TObject>(scanner: Omit<Scanner<C, S>, 'kind'>): Scanner {
  return { ...scanner, kind: 'scanner' } as unknown as Scanner;
}

export function defineEnrichment<C extends TObject, S extends TObject>(enrichment: Omit<Enrichment<C, S>, 'kind'>): Enrichment {
  return { ...enrichment, kind: 'enrichment' } as unknown as Enrichment;
}

export function defineTicketing<C extends TObject, S extends TObject>(ticketing: Omit<Ticketing<C, S>, 'kind'>): Ticketing {
  return { ...ticketing, kind: 'ticketing' } as unknown as Ticketing;
}
