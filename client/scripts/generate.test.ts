import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { typeOf } from './describe-types.ts';
import { generated, readDescription } from './generate.ts';

it('types and calls are generated from the current description of the API', () => {
  // If this fails: npm run client:generate
  const files = generated(readDescription());
  expect(files.length).toBe(2);
  for (const { file, text } of files) expect(readFileSync(file, 'utf8'), file.pathname).toBe(text);
});

it.each([
  [{ type: 'string' }, 'string'],
  [{ type: ['integer', 'null'] }, 'number | null'],
  [{ type: 'array', items: { type: 'string', enum: ['a', 'b'] } }, '("a" | "b")[]'],
  [{ anyOf: [{ $ref: '#/components/schemas/Severity' }, { type: 'null' }] }, 'Severity | null'],
  [{ type: 'object', additionalProperties: { type: 'number' } }, 'Record<string, number>'],
  [
    { type: 'object', required: ['a'], properties: { a: { type: 'boolean' }, 'b-c': { description: 'ends */ here' } } },
    "{\na: boolean;\n/** ends *\u200b/ here */\n'b-c'?: unknown;\n}",
  ],
])('%j becomes %s', (schema, type) => {
  expect(typeOf(schema)).toBe(type);
});

it('a type that the generator does not know is refused', () => {
  expect(() => typeOf({ type: 'tuple' })).toThrow('"tuple"');
});
