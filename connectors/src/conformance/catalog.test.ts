import { readdirSync } from 'node:fs';
import type { TSchema } from 'typebox';
import { Compile } from 'typebox/schema';
import { describe, expect, it } from 'vitest';
import { asForm, fieldGroups } from '../core/settings/fields.ts';
import { fakes } from '../fake-registry.ts';
import { connectors } from '../registry.ts';

const folders = (['scanner', 'enrichment', 'ticketing'] as const).flatMap((kind) =>
  readdirSync(new URL(kind === 'scanner' ? '../scanners' : `../${kind}`, import.meta.url)).map((id) => `${kind} ${id}`),
);

describe('the registry', () => {
  it('lists every connector folder and every fake once', () => {
    expect(connectors.map(({ kind, id }) => `${kind} ${id}`).sort()).toEqual(folders.sort());
    expect(fakes.map(({ id }) => id).sort()).toEqual(connectors.map(({ id }) => id).sort());
  });
});

interface Field {
  title?: string;
  description?: string;
  type?: string;
  format?: string;
  enum?: readonly string[];
  examples?: readonly unknown[];
  default?: unknown;
  writeOnly?: boolean;
  items?: Field;
  properties?: Record<string, Field>;
  'x-group'?: string;
  'x-order'?: number;
  'x-link'?: string;
  'x-labels'?: Record<string, string>;
}

const fieldsOf = (properties: Readonly<Record<string, Field>>, at: string): [string, Field][] =>
  Object.entries(properties).flatMap(([name, field]) => [[`${at}/${name}`, field], ...fieldsOf(field.properties ?? {}, `${at}/${name}`)]);

/** Secrets of servers that anybody may run, so that there is no vendor to link to. */
const WITHOUT_VENDOR = ['report_url /credentials/token', 'report_url /credentials/password'];

/** What a form would lack to show the field without any knowledge of the vendor. */
function gapsOf(field: Field): string[] {
  const values = field.items ?? field;
  const isFreeText = !field.properties && !field.writeOnly && field.type !== 'boolean' && values.enum === undefined;
  const hasDefault = field.default !== undefined && field.default !== '' && JSON.stringify(field.default) !== '[]';
  const gaps = {
    title: /\S/.test(field.title ?? ''),
    description: /^[A-Z{h].+\.$/.test(field.description ?? ''),
    example: !isFreeText || hasDefault || (field.examples ?? []).length > 0,
    link: field.writeOnly !== true || /^https:\/\/[^\s]+$/.test(field['x-link'] ?? ''),
    'password format': (field.format === 'password') === (field.writeOnly === true),
    labels: values.enum === undefined || values.enum.every((value) => /\S/.test(values['x-labels']?.[value] ?? '')),
  };
  return Object.entries(gaps).flatMap(([what, isThere]) => (isThere ? [] : [what]));
}

describe('a field', () => {
  it.each([
    ['title', { description: 'A text.', type: 'string', examples: ['a'] }],
    ['description', { title: 'A', type: 'string', examples: ['a'] }],
    ['example', { title: 'A', description: 'A text.', type: 'string', default: '' }],
    ['example', { title: 'A', description: 'Texts.', type: 'array', items: { type: 'string' }, default: [] }],
    ['link', { title: 'A', description: 'A secret.', type: 'string', format: 'password', writeOnly: true }],
    ['password format', { title: 'A', description: 'A secret.', type: 'string', writeOnly: true, 'x-link': 'https://vendor.example' }],
    ['labels', { title: 'A', description: 'A choice.', type: 'string', enum: ['a', 'b'], 'x-labels': { a: 'A' } }],
  ] as const)('without its %s is noticed', (gap, field) => expect(gapsOf(field)).toEqual([gap]));
});

describe.each(connectors.map((connector) => [connector.id, connector] as const))('%s', (id, connector) => {
  const parts = (['config', 'credentials'] as const).map((part) => [part, asForm(connector[part], part)] as const);
  const fields = parts.flatMap(([part, { properties }]) => fieldsOf(properties as Record<string, Field>, `/${part}`));

  it('has a name and a description', () => {
    expect(id).toMatch(/^[a-z][a-z0-9_]*$/);
    expect(connector.name.length).toBeGreaterThan(1);
    expect(connector.description).toMatch(/\.$/);
    expect(URL.canParse(connector.documentation)).toBe(true);
    expect(connector.permissions.length).toBeGreaterThan(10);
    for (const [path] of fields) expect(path).toMatch(/^(\/[a-z][a-z0-9_]*)+$/);
  });

  it('describes its fields well enough for a form', () => {
    const gaps = fields.flatMap(([path, field]) => gapsOf(field).map((gap) => `${id} ${path}: ${gap}`));
    expect(gaps.filter((gap) => !WITHOUT_VENDOR.some((known) => gap === `${known}: link`))).toEqual([]);
  });

  it('groups and orders its fields', () => {
    for (const [, { properties }] of parts) {
      const shown = Object.values(properties as Record<string, Field>);
      expect(shown.map((field) => field['x-order'])).toEqual(shown.map((_, index) => index + 1));
      for (const field of shown) expect(fieldGroups).toContain(field['x-group']);
    }
  });

  it('has examples and defaults that it accepts itself', () => {
    for (const [path, field] of fields)
      for (const value of [...(field.examples ?? []), ...(field.default === undefined ? [] : [field.default])])
        expect({ path, value, isValid: Compile(field as TSchema).Check(value) }).toEqual({ path, value, isValid: true });
  });

  it('marks secret fields', () => {
    const secret = /token|secret|password|api_key|private/;
    for (const [name, field] of Object.entries(connector.credentials.properties) as [string, Record<string, unknown>][])
      if (secret.test(name) && !/_id$|_url$/.test(name)) expect({ name, writeOnly: field.writeOnly }).toEqual({ name, writeOnly: true });
    for (const [name, field] of Object.entries(connector.config.properties) as [string, Record<string, unknown>][])
      expect({ name, secret: secret.test(name) && field.type === 'string' && !/_url$|_field$/.test(name) }).toEqual({ name, secret: false });
  });
});
