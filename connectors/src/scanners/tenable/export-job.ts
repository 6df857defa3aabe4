import { type Static, Type } from 'typebox';
import { ConnectorError } from '../../core/connector-error.ts';
import type { Http, Json } from '../../core/contract.ts';

/** Tenable exports data asynchronously into chunks, in any order, and keeps them for a day. */

type ExportKind = 'vulns' | 'assets';

interface ExportRequest {
  kind: ExportKind;
  body: Json;
  startedAt: Date;
}

/** Part of the checkpoint. */
interface Job {
  readonly [field: string]: string;
  export: ExportKind;
  id: string;
  /** Changes after this time may be missing. */
  as_of: string;
  /** The chunks that were read: "1-40,42". */
  done: string;
}

interface Chunk {
  job: Job;
  place: string;
  records: readonly unknown[];
}

const Started = Type.Object({
  export_uuid: Type.Optional(Type.String()),
  active_job_id: Type.Optional(Type.String()),
  failure_reason: Type.Optional(Type.String()),
});
const Chunks = Type.Optional(Type.Union([Type.Array(Type.Integer()), Type.Null()]));
const Count = Type.Optional(Type.Union([Type.Integer(), Type.Null()]));
const Status = Type.Object({
  status: Type.String(),
  reason: Type.Optional(Type.Unknown()),
  chunks_available: Chunks,
  chunks_failed: Chunks,
  chunks_cancelled: Chunks,
  total_chunks: Count,
  empty_chunks_count: Count,
  created: Type.Optional(Type.Unknown()),
});
const Records = Type.Array(Type.Unknown());

/** Resumes a job of an interrupted run, unless Tenable has lost it meanwhile. */
export async function* readExport(http: Http, request: ExportRequest, known: Job | null): AsyncGenerator<Chunk> {
  if (known) {
    try {
      yield* readJob(http, known);
      return;
    } catch (error) {
      if (!isLost(error)) throw error;
    }
  }
  const job = await startExport(http, request);
  yield { job, place: '', records: [] };
  yield* readJob(http, job);
}

/** The job has expired or failed. */
function isLost(error: unknown): boolean {
  return error instanceof ConnectorError && (error.kind === 'configuration' || error.kind === 'incomplete');
}

/** Safe to retry: Tenable refuses a second identical export and names the first one. */
async function startExport(http: Http, { kind, body, startedAt }: ExportRequest): Promise<Job> {
  const { status, body: response } = await http.json(Started, { method: 'POST', path: `${kind}/export`, json: body, repeatable: true, accept: [409] });
  const id = response.export_uuid ?? response.active_job_id;
  if (id === undefined)
    throw new ConnectorError(
      'unavailable',
      `Tenable did not start the export: ${response.failure_reason ?? 'another one is running'}. The next run tries again.`,
    );
  const job: Job = { export: kind, id, as_of: startedAt.toISOString(), done: '' };
  if (status !== 409) return job;
  const { created } = await statusOf(http, job);
  return typeof created === 'number' && created < startedAt.getTime() ? { ...job, as_of: new Date(created).toISOString() } : job;
}

async function* readJob(http: Http, job: Job): AsyncGenerator<Chunk> {
  const done = new Set(numbersIn(job.done));
  let before = '';
  for (let waits = 0; ; waits++) {
    const status = await statusOf(http, job);
    refuseIncomplete(job, status);
    const ready = (status.chunks_available ?? []).filter((chunk) => !done.has(chunk)).sort((a, b) => a - b);
    for (const chunk of ready) {
      const records = await http.getJson(`${job.export}/export/${encodeURIComponent(job.id)}/chunks/${chunk}`, Records);
      const first = JSON.stringify(records[0] ?? '');
      if (records.length > 0 && first === before) throw new ConnectorError('incomplete', `Tenable sent the same chunk twice (${chunk} of ${job.id}).`);
      before = first;
      done.add(chunk);
      yield { job: { ...job, done: rangesOf(done) }, place: `${job.export} chunk ${chunk}`, records };
    }
    if (status.status.toUpperCase() === 'FINISHED') return refuseMissing(job, status, done.size);
    if (ready.length > 0) waits = 0;
    await http.pause(waits);
  }
}

function statusOf(http: Http, job: Job): Promise<Static<typeof Status>> {
  return http.getJson(`${job.export}/export/${encodeURIComponent(job.id)}/status`, Status);
}

function refuseIncomplete({ export: kind, id }: Job, { status, reason, chunks_failed, chunks_cancelled }: Static<typeof Status>): void {
  const why = typeof reason === 'string' && reason !== '' ? ` Response: ${reason.slice(0, 300)}` : '';
  if (/^(?:ERROR|CANCELLED)$/i.test(status))
    throw new ConnectorError(
      'incomplete',
      `The Tenable export of ${kind} ${id} ended with the status ${status.toLowerCase()}. The next run starts a new one.${why}`,
    );
  const lost = [...(chunks_failed ?? []), ...(chunks_cancelled ?? [])];
  if (lost.length > 0)
    throw new ConnectorError('incomplete', `The Tenable export of ${kind} ${id} lost ${lost.length} chunks. The next run starts a new one.${why}`);
}

/** Empty chunks may or may not be listed. */
function refuseMissing({ export: kind, id }: Job, { total_chunks, empty_chunks_count }: Static<typeof Status>, read: number): void {
  if (typeof total_chunks === 'number' && read + (empty_chunks_count ?? 0) < total_chunks)
    throw new ConnectorError('incomplete', `The Tenable export of ${kind} ${id} should have ${total_chunks} chunks but lists ${read}.`);
}

export function jobOf(checkpoint: Json): Job | null {
  const job = checkpoint as Partial<Job> | null;
  return typeof job?.id === 'string' ? (job as Job) : null;
}

function numbersIn(ranges: string): number[] {
  return ranges
    .split(',')
    .filter(Boolean)
    .flatMap((range) => {
      const [from = 0, to = from] = range.split('-').map(Number);
      return Array.from({ length: to - from + 1 }, (_, n) => from + n);
    });
}

function rangesOf(numbers: ReadonlySet<number>): string {
  const ranges: [number, number][] = [];
  for (const number of [...numbers].sort((a, b) => a - b)) {
    const last = ranges.at(-1);
    if (last && last[1] === number - 1) last[1] = number;
    else ranges.push([number, number]);
  }
  return ranges.map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`)).join(',');
}
