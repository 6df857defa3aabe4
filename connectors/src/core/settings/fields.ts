import { type TObject, type TSchema, Type } from 'typebox';

/**
 * Fields of settings carry all that a form needs: besides the standard annotations of JSON Schema (title, description, examples, default,
 * writeOnly, format) the keywords of `FieldHints`. A connector declares them next to the field.
 */

/** The parts of a form, in the order in which it shows them. */
export const fieldGroups = ['connection', 'content', 'credentials', 'webhook', 'advanced'] as const;

export interface FieldHints {
  /** Derived for fields that do not declare it: URLs are `connection`, other configuration is `content`, credentials are `credentials`. */
  'x-group'?: (typeof fieldGroups)[number];
  /** The vendor's page where the value is created, or its instructions if every customer has a page of their own. */
  'x-link'?: string;
  /** The value has several lines. */
  'x-multiline'?: true;
  /** What the values of an enumeration mean, in the words of a form. */
  'x-labels'?: Readonly<Record<string, string>>;
}

interface SecretHints extends Pick<FieldHints, 'x-group' | 'x-multiline'> {
  /** Null only if any server can require the secret, so that there is no vendor to link to. */
  link: string | null;
}

/** A field that is stored encrypted and never returned. */
export function Secret(title: string, description: string, { link, ...hints }: SecretHints) {
  const annotations = { title, description, ...hints, ...(link === null ? {} : { 'x-link': link }) };
  return Type.String({ ...annotations, format: 'password', writeOnly: true, minLength: 1, maxLength: 10_000 });
}

interface ChoiceOptions<Value> extends FieldHints {
  title?: string;
  description?: string;
  default?: Value;
}

/** One of a few values. `labels` has the text for each. */
export function Choice<const Labels extends Readonly<Record<string, string>>>(labels: Labels, options: ChoiceOptions<keyof Labels & string> = {}) {
  return Type.Unsafe<keyof Labels & string>({ type: 'string', enum: Object.keys(labels), 'x-labels': labels, ...options });
}

/** The schema with the group and the position of every field. */
export function asForm(schema: TObject, part: 'config' | 'credentials'): TObject {
  const fields = Object.entries(schema.properties).map(([name, field], index) => [name, { 'x-group': groupOf(field, part), ...field, 'x-order': index + 1 }]);
  return { ...schema, properties: Object.fromEntries(fields) };
}

function groupOf(field: TSchema, part: 'config' | 'credentials'): FieldHints['x-group'] {
  if (part === 'credentials') return 'credentials';
  return 'format' in field && field.format === 'uri' ? 'connection' : 'content';
}
