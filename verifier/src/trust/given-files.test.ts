import { expect, test } from 'vitest';
import { vectors } from '../../vectors/vectors.ts';
import { addGivenFile } from './given-files.ts';
import { emptyTrust } from './trust.ts';

/** Between them, their trust has every kind of file. */
const NAMES = [
  'good: stamped',
  'good: a checkpoint of any smaller size',
  'good: the statement that the package is superseded',
  'good: a witness confirmed the checkpoint',
  'good: a newer checkpoint with a proof',
];
const given = vectors.filter(({ name }) => NAMES.includes(name));

test.for(given)('files are recognized by their content: $name', async ({ make }) => {
  const { trust } = await make();
  const files: [string, string][] = [
    ...trust.packageKeys.map((text): [string, string] => ['package.pem', text]),
    ...trust.logKeys.map((text): [string, string] => ['folder/log.pem', text]),
    ...[trust.noteKeys, trust.timestampRoots, trust.checkpoints, trust.consistencies ?? [], trust.witnessKeys ?? []]
      .flat()
      .map((text): [string, string] => ['file', text]),
    ...(trust.status === undefined ? [] : ([['status.json', trust.status]] as [string, string][])),
  ];
  const read = emptyTrust();
  for (const [name, text] of files) addGivenFile(read, name, text);
  expect(read).toMatchObject({
    packageKeys: trust.packageKeys,
    logKeys: trust.logKeys,
    noteKeys: trust.noteKeys,
    checkpoints: trust.checkpoints,
    timestampRoots: trust.timestampRoots.map((pem) => pem.trim()),
    ...(trust.consistencies?.length ? { consistencies: trust.consistencies } : {}),
    ...(trust.witnessKeys?.length ? { witnessKeys: trust.witnessKeys } : {}),
    ...(trust.status === undefined ? {} : { status: trust.status }),
  });
});

test.for(['', 'hello', '{', '{}', '{"keys":[]}', '\u0000\u0001', '[]'])('%j is refused with the name of the file', (text) => {
  expect(() => addGivenFile(emptyTrust(), 'given.txt', text)).toThrow('given.txt');
});

test('a second status statement is refused: it would be unclear which one counts', () => {
  const trust = emptyTrust();
  addGivenFile(trust, 'first.json', '{"payloadType":"a"}');
  expect(() => addGivenFile(trust, 'second.json', '{"payloadType":"b"}')).toThrow('second.json is a second status statement');
});
