import { expect, test } from 'vitest';
import { fromBase64 } from '../bytes/bytes.ts';
import { cosignatureLine, cosignatureMessage, parseCosignature, parseWitnessVkey, witnessKeyId, witnessVkey } from './cosignature.ts';
import { parseNote } from './note.ts';

// The example of c2sp.org/tlog-cosignature. Its key is not published, so only the form is compared.
const NOTE = `example.com/behind-the-sofa
20852163
CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=

— example.com/behind-the-sofa Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+ZJurmRDeOoRDe4URYN7u5/Zhcyv2q1gGzGku9nTo+zyWE+xeMcTOAYQ8=
— witness.example.com/w1 jWbPPwAAAABkGFDLEZMHwSRaJNiIDoe9DYn/zXcrtPHeolMI5OWXEhZCB9dlrDJsX3b2oyin1nPZqhf5nNo0xUe+mbIUBkBIfZ+qnA==
`;

test('reads and writes the cosignature of the specification', () => {
  const { text, signatures } = parseNote(NOTE);
  const [log, witness] = signatures;
  if (!log || !witness) throw new Error('the example has two signatures');
  const cosignature = parseCosignature(witness);
  expect(cosignature).toMatchObject({ name: 'witness.example.com/w1', time: 1679315147 });
  expect(cosignatureLine(cosignature)).toEqual(witness);
  expect(Buffer.from(cosignatureMessage(text, cosignature.time)).toString()).toBe(`cosignature/v1\ntime 1679315147\n${text}`);
  expect(() => parseCosignature(log)).toThrow('not a cosignature');
});

test('reads the verifier key of a witness and refuses keys of logs', () => {
  const key = fromBase64('11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=');
  const text = witnessVkey({ name: 'witness.example/w1', key });
  expect(parseWitnessVkey(text)).toEqual({ name: 'witness.example/w1', key });
  expect(text).toContain(Buffer.from(witnessKeyId({ name: 'witness.example/w1', key })).toString('hex'));
  expect(() => parseWitnessVkey(text.replace('w1+', 'w2+'))).toThrow('does not match');
  expect(() => parseWitnessVkey(`a+00000000+${Buffer.concat([Buffer.of(1), key]).toString('base64')}`)).toThrow('type 4');
});
