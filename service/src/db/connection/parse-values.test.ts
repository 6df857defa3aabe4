import { expect, it } from 'vitest';
import { standardParser, valueTypes } from './parse-values.ts';

const TYPES = {
  timestamptz: [
    1184,
    [
      '2026-11-16 09:31:02.123+00',
      '2026-11-16 09:31:02+00',
      '2026-11-16 09:31:02.1+00',
      '2026-11-16 09:31:02.123456+00',
      '2024-02-29 23:59:59.999+00',
      '0044-03-15 12:00:00+00 BC',
      '0001-01-01 00:00:00+00',
      '12026-11-16 09:31:02+00',
      '2026-11-16 11:31:02.5+02',
      '2026-11-16 15:01:02.5+05:30',
      'infinity',
      '-infinity',
    ],
  ],
  'text[]': [1009, ['{}', '{a}', '{a,b}', '{"a,b",c}', '{NULL,a}', '{"NULL"}', '{"a\\"b"}', '{{a,b},{c,d}}', '[0:1]={a,b}', '{" a "}', '{annull}']],
  'uuid[]': [2951, ['{}', '{01994f3e-8a10-7c31-9d3c-5f1f4b8f0a11,01994f3e-8a10-7c31-9d3c-5f1f4b8f0a12}']],
  int4: [23, ['12']],
  jsonb: [3802, ['{"a": 1}']],
} as const;

it.each(Object.entries(TYPES))('%s is read as the driver reads it', (_, [oid, texts]) => {
  for (const text of texts) expect([text, valueTypes.getTypeParser(oid)(text)]).toEqual([text, standardParser(oid)(text)]);
});
