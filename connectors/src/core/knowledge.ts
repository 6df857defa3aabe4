import type { Rejection } from '@rrs/scan-reports';
import { cwesOf, RecordError, required, vulnerabilityIds } from '@rrs/scan-reports/normalize.ts';
import { num, str } from '@rrs/scan-reports/read.ts';
import { ConnectorError } from './connector-error.ts';
import type { Knowledge } from './contract.ts';

/** Shared by enrichment connectors: reading records, ids, CVSS vectors, and batches of the vulnerabilities that findings have. */

const CVE = /^CVE-\d{4}-\d{4,19}$/;
const MAX_ALIASES = 100;
const MAX_VECTORS = 20;

/** Reads each record on its own, so that a bad one does not fail the others. `read` returns null for a record without relevant facts. */
export function readRecords<T>(
  records: readonly T[],
  place: (index: number) => string,
  read: (record: T) => Knowledge | null,
): { items: Knowledge[]; rejected: Rejection[] } {
  const items: Knowledge[] = [];
  const rejected: Rejection[] = [];
  for (const [index, record] of records.entries()) {
    try {
      const knowledge = read(record);
      if (knowledge) items.push(knowledge);
    } catch (error) {
      if (error instanceof ConnectorError) throw error;
      rejected.push({ place: place(index), reason: error instanceof RecordError ? error.message : 'the record does not have the expected structure' });
    }
  }
  return { items, rejected };
}

export function isCve(id: string): boolean {
  return CVE.test(id);
}

export function requiredCve(value: unknown, field: string): string {
  const id = required(str(value), field).toUpperCase();
  if (!isCve(id)) throw new RecordError(`${field} is not a CVE id`);
  return id;
}

interface Facts {
  /** The record's own id first. */
  ids: readonly (string | undefined)[];
  cwes: readonly unknown[];
  cvss: readonly { vector: unknown; score?: unknown }[];
}

/** The CVE id is the id if there is exactly one. Empty lists are left out, so that stored values stay. */
export function knowledgeOf({ ids: [own, ...others], cwes, cvss }: Facts): Knowledge {
  const id = vulnerabilityIds(required(own, 'the id'))[0] ?? '';
  const names = vulnerabilityIds(id, ...others);
  const cves = names.filter(isCve);
  // A record about several CVEs does not make those CVEs aliases of each other.
  const known = cves.length === 1 && cves[0] ? cves[0] : id;
  const aliases = names.filter((name) => name !== known && (cves.length <= 1 || !isCve(name))).slice(0, MAX_ALIASES);
  const numbers = cwesOf(...cwes);
  const vectors = vectorsOf(cvss);
  return {
    id: known,
    ...(aliases.length > 0 ? { aliases } : {}),
    ...(numbers.length > 0 ? { cwes: numbers } : {}),
    ...(vectors.length > 0 ? { cvss: vectors } : {}),
  };
}

function vectorsOf(given: Facts['cvss']): { vector: string; score?: number }[] {
  const vectors = new Map<string, { vector: string; score?: number }>();
  for (const one of given) {
    const vector = str(one.vector);
    if (vector === undefined || vector.length > 500 || !/(?:^|\/)\(?AV:/.test(vector) || vectors.has(vector)) continue;
    const score = num(one.score);
    // Some vendors send 0 if they have a vector but no score.
    vectors.set(vector, { vector, ...(score !== undefined && score > 0 && score <= 10 ? { score } : {}) });
  }
  return [...vectors.values()].slice(0, MAX_VECTORS);
}

interface QueryLimits {
  /** Whether the vendor can be queried for this id. */
  accepts(id: string): boolean;
  maxIds: number;
  /** Limit for the ids of one query, with a separator between them. */
  maxCharacters?: number;
}

/** Splits the ids that findings have, starting after `after`, into batches that fit into one query to the vendor. */
export async function* queryBatches(
  wanted: (after: string | null) => Promise<readonly string[]>,
  after: string | null,
  limits: QueryLimits,
): AsyncGenerator<readonly string[]> {
  for (let last = after; ; ) {
    const page = await wanted(last);
    yield* batchesOf(page.filter(limits.accepts), limits);
    const end = page.at(-1);
    if (end === undefined) return;
    last = end;
  }
}

function* batchesOf(ids: readonly string[], { maxIds, maxCharacters = Number.POSITIVE_INFINITY }: QueryLimits): Generator<readonly string[]> {
  let batch: string[] = [];
  let length = 0;
  for (const id of ids) {
    if (batch.length > 0 && (batch.length === maxIds || length + id.length > maxCharacters)) {
      yield batch;
      [batch, length] = [[], 0];
    }
    batch.push(id);
    length += id.length + 1;
  }
  if (batch.length > 0) yield batch;
}
