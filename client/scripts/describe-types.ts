/** The parts of a JSON Schema that our API description uses. */
export interface Schema {
  $ref?: string;
  type?: string | string[];
  enum?: (string | null)[];
  const?: unknown;
  anyOf?: Schema[];
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean | Schema;
  format?: string;
  description?: string;
}

const primitives: Readonly<Record<string, string>> = { string: 'string', integer: 'number', number: 'number', boolean: 'boolean', null: 'null' };

/** The TypeScript type of a schema. */
export function typeOf(schema: Schema): string {
  if (schema.$ref !== undefined) return nameOf(schema.$ref);
  if (schema.anyOf) return schema.anyOf.map(typeOf).join(' | ');
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' | ');
  if (schema.format === 'binary') return 'Blob';
  const types = [schema.type ?? []].flat();
  return types.length === 0 ? 'unknown' : types.map((type) => typeNamed(type, schema)).join(' | ');
}

function typeNamed(type: string, schema: Schema): string {
  if (type === 'array') return `${inBrackets(typeOf(schema.items ?? {}))}[]`;
  if (type === 'object') return objectType(schema);
  const known = primitives[type];
  if (known === undefined) throw new Error(`The API description uses the type "${type}", which the generator of the client does not know.`);
  return known;
}

const inBrackets = (type: string): string => (type.includes('|') ? `(${type})` : type);

function objectType({ properties = {}, required = [], additionalProperties }: Schema): string {
  const fields = Object.entries(properties).map(
    ([name, field]) => `${comment(field.description)}${keyOf(name)}${required.includes(name) ? '' : '?'}: ${typeOf(field)};`,
  );
  if (fields.length > 0) return `{\n${fields.join('\n')}\n}`;
  return `Record<string, ${typeof additionalProperties === 'object' ? typeOf(additionalProperties) : 'unknown'}>`;
}

export function comment(text: string | undefined): string {
  return text ? `/** ${text.replaceAll('*/', '*\u200b/').replaceAll('\n', ' ')} */\n` : '';
}

export const keyOf = (name: string): string => (/^[A-Za-z_]\w*$/.test(name) ? name : `'${name}'`);

/** The last part of a reference such as `#/components/schemas/Finding`. */
export function nameOf(reference: string): string {
  return reference.slice(reference.lastIndexOf('/') + 1);
}
