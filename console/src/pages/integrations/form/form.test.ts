import { expect, it } from 'vitest';
import { fieldsOf } from './schema.ts';
import { assign, bodyOf, changesOf, initialValues, unreadable } from './values.ts';

const fields = fieldsOf({
  config_schema: {
    type: 'object',
    required: ['api_url'],
    properties: {
      ids: { type: 'array', items: { type: 'integer' }, title: 'Ids', 'x-order': 2 },
      api_url: { type: 'string', format: 'uri', title: 'API URL', 'x-order': 1, 'x-group': 'connection' },
      mode: { type: 'string', enum: ['a', 'b'], 'x-labels': { a: 'All' }, default: 'a', 'x-order': 3 },
      names: { type: 'object', properties: { high: { type: 'string', default: 'High' } }, 'x-order': 4 },
      extra: { type: 'object', patternProperties: { '^.*$': {} }, 'x-order': 5 },
      deep: { type: 'boolean', default: true, 'x-order': 6 },
    },
  },
  credentials_schema: { type: 'object', properties: { token: { type: 'string', format: 'password' }, key: { type: 'string', format: 'password' } } },
});

it('reads the kind and place of every field', () => {
  expect(fields.map(({ pointer, kind }) => [pointer, kind])).toEqual([
    ['/config/api_url', 'text'],
    ['/config/ids', 'words'],
    ['/config/mode', 'choice'],
    ['/config/names', 'group'],
    ['/config/extra', 'json'],
    ['/config/deep', 'switch'],
    ['/credentials/token', 'secret'],
    ['/credentials/key', 'secret'],
  ]);
  expect(fields[2]?.options).toEqual([
    { value: 'a', label: 'All' },
    { value: 'b', label: 'b' },
  ]);
});

it('begins with the defaults, and sends what is filled in', () => {
  const values = { ...initialValues(fields), '/config/api_url': ' https://example.com ', '/config/ids': ['1', 'x'], '/config/extra': '{"a":1}' };
  expect(bodyOf(fields, values)).toEqual({
    config: { api_url: 'https://example.com', ids: [1, 'x'], mode: 'a', extra: { a: 1 }, deep: true },
    credentials: {},
  });
});

it('sends only what changed, and keeps secrets that were left empty', () => {
  const before = initialValues(fields, { api_url: 'https://example.com', ids: [1], names: { high: 'Highest' }, deep: false });
  expect(changesOf(fields, before, before)).toEqual({});
  expect(changesOf(fields, before, { ...before, '/config/ids': [], '/config/names/high': '', '/credentials/token': 'new', '/credentials/key': null })).toEqual({
    config: { ids: null, names: null },
    credentials: { token: 'new', key: null },
  });
});

it('puts problems at their fields', () => {
  expect(unreadable(fields, { '/config/extra': '{a}' })).toEqual({ '/config/extra': 'must be JSON, with names and texts in double quotes' });
  expect(
    assign(fields, [
      { path: '/config/ids/1', detail: 'must be a number' },
      { path: '/config', detail: 'does not result in a valid URL' },
    ]),
  ).toEqual({ at: { '/config/ids': 'must be a number' }, rest: [{ path: '/config', detail: 'does not result in a valid URL' }] });
});
