import type { Rejection } from '@rrs/scan-reports';
import { cwesOf, RecordError, required, vulnerabilityIds } from '@rrs/scan-reports/normalize.ts';
import { num, str } from '@rrs/scan-reports/read.ts';
import { ConnectorError, type Knowledge } from './contract.ts';

/** What enrichment connectors have in common: records that fail alone, ids, vectors, and the vulnerabilities that findings have. */

const CVE = /^CVE-\d{4}-\d{4,19}$/;
const MOST_ALIASES = 100;
const MOST_VECTORS = 20;

/** Null from `read`: the record says nothing of use. */
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
      rejected.push({ place: place(index), reason: error instanceof RecordError ? error.message : 'the record has not the expected shape' });
    }
  }
  return { items, rejected };
}

export function isCve(id: string): boolean {
  return CVE.test(id);
}

export function requiredCve(value: unknown, field: string): string {
  const id = required(str(value), field).toUpperCase();
  if (!isCve(id)) throw new RecordError(`${field} is no CVE id`);
  return id;
}

interface Facts {
  /** The record's own id first. */
  ids: readonly (string | undefined)[];
  cwes: readonly unknown[];
  cvss: readonly { vector: unknown; score?: unknown }[];
}

/** Known by its CVE id if it has one. Lists that are empty are left out: the vendor has nothing to say. */
export function knowledgeOf({ ids: [own, ...others], cwes, cvss }: Facts): Knowledge {
  const id = vulnerabilityIds(required(own, 'the id'))[0] ?? '';
  const names = vulnerabilityIds(id, ...others);
  const cves = names.filter(isCve);
  // A record of several CVEs is about each of them, which does not make them one.
  const known = cves.length === 1 && cves[0] ? cves[0] : id;
  const aliases = names.filter((name) => name !== known && (cves.length <= 1 || !isCve(name))).slice(0, MOST_ALIASES);
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
    // Some state 0 where they have a vector and no number.
    vectors.set(vector, { vector, ...(score !== undefined && score > 0 && score <= 10 ? { score } : {}) });
  }
  return [...vectors.values()].slice(0, MOST_VECTORS);
}

interface Portion {
  accepts(id: string): boolean;
  most: number;
  /** Of the ids with something between them. */
  characters?: number;
}

/** What findings have, from an id on, in portions that the vendor can be asked for. */
export async function* wantedPortions(
  wanted: (after: string | null) => Promise<readonly string[]>,
  after: string | null,
  portion: Portion,
): AsyncGenerator<readonly string[]> {
  for (let last = after; ; ) {
    const page = await wanted(last);
    yield* portionsOf(page.filter(portion.accepts), portion);
    const end = page.at(-1);
    if (end === undefined) return;
    last = end;
  }
}

function* portionsOf(ids: readonly string[], { most, characters = Number.POSITIVE_INFINITY }: Portion): Generator<readonly string[]> {
  let portion: string[] = [];
  let length = 0;
  for (const id of ids) {
    if (portion.length > 0 && (portion.length === most || length + id.length > characters)) {
      yield portion;
      [portion, length] = [[], 0];
    }
    portion.push(id);
    length += id.length + 1;
  }
  if (portion.length > 0) yield portion;
}
