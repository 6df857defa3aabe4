import type { ReportInput } from '../contract.ts';
import { type XmlElement, type XmlMatch, xmlElements } from './elements.ts';

export interface XmlRecord {
  place: string;
  /** The ancestors of the record, outermost first. */
  parents: XmlMatch['parents'];
  /** Elements by field path. */
  fields: ReadonlyMap<string, readonly XmlElement[]>;
  /** For each field, the indexes of the elements that contain its elements. Fields of one list entry have the same index. */
  owners: ReadonlyMap<string, readonly number[]>;
}

type Tags = Readonly<Record<string, (attributes: Readonly<Record<string, string>>) => void>>;

/**
 * Yields records with only the given fields. Everything else in a record, such as requests and responses of any size, is skipped.
 * A record without any of the fields is not yielded. `tags` has functions that receive the attributes of other elements, by their paths.
 */
export async function* xmlRecords(input: ReportInput, path: string, fields: readonly string[], tags: Tags = {}): AsyncGenerator<XmlRecord> {
  const depth = path.split('/').length;
  let current = emptyRecord('', []);
  const others = Object.values(tags);
  for await (const { element, pattern, parents } of xmlElements(input, [
    ...fields.map((field) => `${path}/${field}`),
    ...Object.keys(tags).map((tag) => `${tag}/@`),
  ])) {
    if (pattern >= fields.length) {
      others[pattern - fields.length]?.(element.attributes);
      continue;
    }
    const place = parents
      .slice(1, depth)
      .map(({ name, index }) => `${name}[${index}]`)
      .join('/');
    if (current.place !== place) {
      if (current.fields.size > 0) yield current;
      current = emptyRecord(place, parents.slice(0, depth - 1));
    }
    const field = fields[pattern] as string;
    listIn(current.fields, field).push(element);
    listIn(current.owners, field).push(parents.at(-1)?.index ?? 0);
  }
  if (current.fields.size > 0) yield current;
}

function emptyRecord(place: string, parents: XmlMatch['parents']) {
  return { place, parents, fields: new Map<string, XmlElement[]>(), owners: new Map<string, number[]>() };
}

function listIn<Item>(lists: Map<string, Item[]>, key: string): Item[] {
  const list = lists.get(key) ?? [];
  lists.set(key, list);
  return list;
}

export function recordText({ fields }: XmlRecord, field: string): string | undefined {
  return fields.get(field)?.[0]?.text || undefined;
}
