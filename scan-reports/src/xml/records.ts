import type { ReportInput } from '../contract.ts';
import { type XmlElement, type XmlMatch, xmlElements } from './elements.ts';

export interface XmlRecord {
  place: string;
  /** The elements around it, outermost first. */
  parents: XmlMatch['parents'];
  /** By the path that was asked for. */
  fields: ReadonlyMap<string, readonly XmlElement[]>;
}

/**
 * Records of which only some fields are wanted: what else is in them (requests and answers of any size) is passed over.
 * A record without any of the fields does not show.
 */
export async function* xmlRecords(input: ReportInput, path: string, fields: readonly string[]): AsyncGenerator<XmlRecord> {
  const depth = path.split('/').length;
  let current = started('', []);
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
      current = started(place, parents.slice(0, depth - 1));
    }
    const field = fields[pattern] as string;
    const same = current.fields.get(field);
    if (same) same.push(element);
    else current.fields.set(field, [element]);
  }
  if (current.fields.size > 0) yield current;
}

function started(place: string, parents: XmlMatch['parents']) {
  return { place, parents, fields: new Map<string, XmlElement[]>() };
}

export function recordText({ fields }: XmlRecord, field: string): string | undefined {
  return fields.get(field)?.[0]?.text || undefined;
}
