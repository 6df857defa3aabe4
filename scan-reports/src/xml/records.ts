import type { ReportInput } from '../contract.ts';
import { type XmlElement, type XmlMatch, xmlElements } from './elements.ts';

export interface XmlRecord {
  place: string;
  /** The ancestors of the record, outermost first. */
  parents: XmlMatch['parents'];
  /** Elements by field path. */
  fields: ReadonlyMap<string, readonly XmlElement[]>;
}

/**
 * Yields records with only the given fields. Everything else in a record, such as requests and responses of any size, is skipped.
 * A record without any of the fields is not yielded.
 */
export async function* xmlRecords(input: ReportInput, path: string, fields: readonly string[]): AsyncGenerator<XmlRecord> {
  const depth = path.split('/').length;
  let current = emptyRecord('', []);
  for await (const { element, pattern, parents } of xmlElements(
    input,
    fields.map((field) => `${path}/${field}`),
  )) {
    const place = parents
      .slice(1, depth)
      .map(({ name, index }) => `${name}[${index}]`)
      .join('/');
    if (current.place !== place) {
      if (current.fields.size > 0) yield current;
      current = emptyRecord(place, parents.slice(0, depth - 1));
    }
    const field = fields[pattern] as string;
    const same = current.fields.get(field);
    if (same) same.push(element);
    else current.fields.set(field, [element]);
  }
  if (current.fields.size > 0) yield current;
}

function emptyRecord(place: string, parents: XmlMatch['parents']) {
  return { place, parents, fields: new Map<string, XmlElement[]>() };
}

export function recordText({ fields }: XmlRecord, field: string): string | undefined {
  return fields.get(field)?.[0]?.text || undefined;
}
