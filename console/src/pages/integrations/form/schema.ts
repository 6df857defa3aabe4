/** The fields of a form, read from the JSON Schemas of a provider. The service checks the values, so this only decides how each field is drawn. */

/** The parts of a form, in the order in which it shows them. */
export const groups = ['connection', 'content', 'credentials', 'webhook', 'advanced'] as const;
export type Group = (typeof groups)[number];

type Kind = 'text' | 'secret' | 'words' | 'group' | 'choice' | 'json' | 'switch' | 'number' | 'choices';

export interface Field {
  /** Where the API expects the value, as a JSON pointer: `/config/api_url`. Problems of the API name it too. */
  pointer: string;
  name: string;
  part: Part;
  kind: Kind;
  group: Group;
  title: string;
  description: string;
  isRequired: boolean;
  /** The value has several lines. */
  isLong: boolean;
  /** The words are numbers. */
  isNumeric: boolean;
  fallback: unknown;
  example: string;
  /** Values that are worth a suggestion, such as the URLs of a vendor's regions. */
  suggestions: readonly string[];
  /** The vendor's page where the value is created. */
  link: string | null;
  options: readonly { value: string; label: string }[];
  least: number | undefined;
  most: number | undefined;
  /** The fields of a group. */
  fields: readonly Field[];
}

export type Part = 'config' | 'credentials';

interface Schema {
  type?: string;
  title?: string;
  description?: string;
  default?: unknown;
  examples?: readonly unknown[];
  format?: string;
  enum?: readonly string[];
  items?: Schema;
  properties?: Readonly<Record<string, Schema>>;
  required?: readonly string[];
  minimum?: number;
  maximum?: number;
  'x-group'?: Group;
  'x-order'?: number;
  'x-link'?: string;
  'x-multiline'?: boolean;
  'x-labels'?: Readonly<Record<string, string>>;
}

interface Provider {
  config_schema: Record<string, unknown>;
  credentials_schema: Record<string, unknown>;
}

/** All fields of a provider: configuration first, each part in the order of its schema. */
export function fieldsOf({ config_schema, credentials_schema }: Provider): Field[] {
  return [...partOf(config_schema as Schema, 'config'), ...partOf(credentials_schema as Schema, 'credentials')];
}

function partOf({ properties = {}, required = [] }: Schema, part: Part): Field[] {
  return Object.entries(properties)
    .map(([name, schema]) => ({
      order: schema['x-order'] ?? 0,
      field: fieldOf(schema, { name, part, parent: `/${part}`, isRequired: required.includes(name) }),
    }))
    .sort((one, other) => one.order - other.order)
    .map(({ field }) => field);
}

interface Place {
  name: string;
  part: Part;
  parent: string;
  isRequired: boolean;
}

function fieldOf(schema: Schema, { name, part, parent, isRequired }: Place): Field {
  const pointer = `${parent}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
  const kind = kindOf(schema);
  const values = schema.enum ?? schema.items?.enum ?? [];
  const labels = schema['x-labels'] ?? schema.items?.['x-labels'] ?? {};
  return {
    pointer,
    name,
    part,
    kind,
    group: schema['x-group'] ?? 'content',
    title: schema.title ?? name,
    description: schema.description ?? '',
    isRequired,
    isLong: schema['x-multiline'] === true,
    isNumeric: schema.items?.type === 'integer' || schema.items?.type === 'number',
    fallback: schema.default,
    example: exampleOf(schema.examples?.[0], kind),
    suggestions: kind === 'text' && (schema.examples?.length ?? 0) > 1 ? (schema.examples ?? []).map(String) : [],
    link: schema['x-link'] ?? null,
    options: values.map((value) => ({ value, label: labels[value] ?? value })),
    least: schema.minimum,
    most: schema.maximum,
    fields:
      kind === 'group'
        ? Object.entries(schema.properties ?? {}).map(([each, child]) =>
            fieldOf(child, { name: each, part, parent: pointer, isRequired: schema.required?.includes(each) ?? false }),
          )
        : [],
  };
}

function kindOf({ type, format, enum: values, items, properties }: Schema): Kind {
  if (type === 'object') return properties === undefined ? 'json' : 'group';
  if (type === 'array') return items?.enum ? 'choices' : 'words';
  if (type === 'boolean') return 'switch';
  if (type === 'integer' || type === 'number') return 'number';
  if (values) return 'choice';
  return format === 'password' ? 'secret' : 'text';
}

function exampleOf(example: unknown, kind: Kind): string {
  if (example === undefined) return '';
  if (kind === 'json') return JSON.stringify(example, null, 2);
  return Array.isArray(example) ? example.join(', ') : String(example);
}

/** A field, or the fields inside it. */
export const leaves = (fields: readonly Field[]): Field[] => fields.flatMap((field) => (field.kind === 'group' ? leaves(field.fields) : [field]));
