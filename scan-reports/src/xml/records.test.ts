import { expect, test } from 'vitest';
import { fromBuffer } from '../shared/input.ts';
import { collect } from '../testing/reading.ts';
import { recordText, xmlRecords } from './records.ts';

const text = `<r version="2"><list name="a"><item><id>1</id><at><x>p</x><y>q</y></at><at><y>s</y></at><body>big</body></item></list>
<list name="b"></list><list name="c"><item><body>only</body></item><item><id>2</id></item></list></r>`;

test('yields only the wanted fields, with the list entry that each belongs to', async () => {
  const records = await collect(xmlRecords(fromBuffer(text), 'r/list/item', ['id', 'at/x', 'at/y']));
  expect(records.map((record) => [record.place, recordText(record, 'id')])).toEqual([
    ['list[1]/item[1]', '1'],
    ['list[3]/item[2]', '2'],
  ]);
  expect(records[0]?.owners.get('at/x')).toEqual([1]);
  expect(records[0]?.owners.get('at/y')).toEqual([1, 2]);
});

test('passes on the attributes of other elements, even of empty ones', async () => {
  const seen: unknown[] = [];
  const tags = { r: ({ version }: Record<string, string>) => seen.push(version), 'r/list': ({ name }: Record<string, string>) => seen.push(name) };
  expect(await collect(xmlRecords(fromBuffer(text), 'r/list/item', ['id'], tags))).toHaveLength(2);
  expect(seen).toEqual(['2', 'a', 'b', 'c']);
});
