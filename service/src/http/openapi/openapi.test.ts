import { describe, expect, it } from 'vitest';
import {
  committedDescription,
  description,
  generateDescription,
  type Media,
  mistakeIn,
  type Operation,
  operations,
  resolve,
} from '../../testing/http/description.ts';
import { problemKinds } from '../problems.ts';
import { brokenRequestCodes } from '../requests/broken-requests.ts';

const named = operations.map((operation) => [operation.operationId, operation] as const);

function bodiesOf({ requestBody, responses }: Operation): [string, Media][] {
  const all = [['request', requestBody?.content ?? {}] as const, ...Object.entries(responses).map(([status, { content }]) => [status, content ?? {}] as const)];
  return all.flatMap(([where, content]) => Object.entries(content).map(([type, media]): [string, Media] => [`${where} ${type}`, media]));
}

function everyRef(value: unknown): string[] {
  if (value === null || typeof value !== 'object') return [];
  return Object.entries(value).flatMap(([key, item]) => (key === '$ref' ? [String(item)] : everyRef(item)));
}

describe('the description', () => {
  it('matches the current routes', async () => {
    const same = (await generateDescription()) === committedDescription;
    expect(same, 'service/openapi.json is not up to date: run `npm run openapi:generate` and commit it').toBe(true);
  });

  it('has no broken references and no unused components', () => {
    const refs = new Set(everyRef(description));
    expect(refs.size).toBeGreaterThan(20);
    for (const $ref of refs) expect(() => resolve({ $ref })).not.toThrow();
    const components = description.components as Record<string, Record<string, unknown>>;
    const present = Object.entries(components)
      .filter(([kind]) => kind !== 'securitySchemes')
      .flatMap(([kind, all]) => Object.keys(all).map((name) => `#/components/${kind}/${name}`));
    expect(present.filter((name) => !refs.has(name))).toEqual([]);
  });

  it('gives each operation a unique ID', () => {
    const ids = operations.map(({ operationId }) => operationId);
    expect(new Set(ids).size).toBe(ids.length);
    for (const id of ids) expect(id).toMatch(/^[a-z][A-Za-z]+$/);
  });

  it('describes exactly the tags that it uses', () => {
    const explained = (description.tags as { name: string; description: string }[]).map(({ name }) => name).sort();
    expect([...new Set(operations.flatMap(({ tags }) => tags))].sort()).toEqual(explained);
  });
});

describe.each(named)('%s', (_, operation) => {
  it('has a summary, a description and one tag', () => {
    expect(operation.summary).toMatch(/^[A-Z].*[^.]$/);
    expect(operation.description).toMatch(/^[A-Z].*\.$/s);
    expect(operation.tags).toHaveLength(1);
    for (const parameter of operation.parameters) expect.soft(parameter.schema, parameter.name).toBeTypeOf('object');
  });

  it('has a valid example of its request and each of its responses', () => {
    for (const [where, { schema, example, examples }] of bodiesOf(operation)) {
      const given = examples ? Object.values(examples).map(({ value }) => value) : example === undefined ? [] : [example];
      expect.soft(given.length, where).toBeGreaterThan(0);
      for (const value of given) expect.soft(mistakeIn(value, schema), where).toBeNull();
    }
    for (const { name, example, schema } of operation.parameters) {
      if (example !== undefined) expect.soft(mistakeIn(example, schema), name).toBeNull();
    }
  });

  it('documents the common errors under their codes', () => {
    const isPublic = operation.security?.length === 0;
    const wanted = ['400', '406', '408', '431', '500', '503', ...(isPublic ? [] : ['401', '429']), ...(operation.requestBody ? ['413', '415'] : [])];
    expect(Object.keys(operation.responses)).toEqual(expect.arrayContaining(wanted));
    const examplesOf = (status: number) => Object.keys(operation.responses[status]?.content?.['application/problem+json']?.examples ?? {});
    expect(brokenRequestCodes.filter((code) => !examplesOf(problemKinds[code].status).includes(code))).toEqual([]);
    for (const [status, { content }] of Object.entries(operation.responses)) {
      if (/^[23]/.test(status)) continue;
      const examples = content?.['application/problem+json']?.examples ?? {};
      expect.soft(Object.keys(examples).length, status).toBeGreaterThan(0);
      for (const [code, { value }] of Object.entries(examples)) {
        expect.soft(value).toMatchObject({ code, status: Number(status), title: problemKinds[code as keyof typeof problemKinds].title });
      }
    }
  });

  it('is described as strictly as it is validated', () => {
    for (const { schema } of Object.values(operation.requestBody?.content ?? {})) {
      // The content of a streamed file is not validated, and preferences belong to the program that stores them.
      if (resolve(schema).format !== 'binary' && operation.operationId !== 'replacePreferences') expect(resolve(schema).additionalProperties).toBe(false);
    }
    for (const parameter of operation.parameters) if (parameter.in === 'path') expect(parameter.required).toBe(true);
    if (operation.method === 'PATCH') expect(Object.keys(operation.requestBody?.content ?? {})).toContain('application/merge-patch+json');
    if (operation.method === 'PATCH') expect(operation.parameters.map(({ name }) => name)).toContain('If-Match');
  });
});

describe('a list', () => {
  const lists = named.filter(([, { parameters }]) => parameters.some(({ name }) => name === 'cursor'));

  it.each(lists)('%s is paged like every other list', (_, { parameters, responses }) => {
    expect(parameters.map(({ name }) => name)).toEqual(expect.arrayContaining(['limit', 'cursor', 'sort', 'total']));
    expect(responses[200]?.headers).toHaveProperty('Link');
    expect(Object.keys(responses[400]?.content?.['application/problem+json']?.examples ?? {})).toContain('invalid_cursor');
  });

  it('is not the only kind of operation', () => {
    expect(lists.length).toBeGreaterThan(2);
    expect(lists.length).toBeLessThan(named.length);
  });
});
