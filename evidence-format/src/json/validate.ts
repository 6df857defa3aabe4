/** The subset of JSON Schema 2020-12 that the schemas of this package use. */
export interface Schema {
  readonly $schema?: string;
  readonly $id?: string;
  readonly title?: string;
  readonly description?: string;
  readonly type?: JsonType | readonly JsonType[];
  readonly const?: string | number;
  readonly enum?: readonly (string | null)[];
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly items?: Schema;
  readonly minItems?: number;
  readonly maxItems?: number;
  /** Supported for lists of strings only. */
  readonly uniqueItems?: true;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: false | Schema;
}

export type JsonType = 'null' | 'boolean' | 'integer' | 'number' | 'string' | 'array' | 'object';

export interface SchemaFault {
  /** JSON Pointer (RFC 6901) into the value. */
  path: string;
  message: string;
}

/** Bounds the memory and time that a document with a fault in every value can use. */
const MAX_FAULTS = 100;

/** Returns the first faults in document order: all of them, or somewhat more than 100. `value` must come from JSON.parse. */
export function validate(schema: Schema, value: unknown): SchemaFault[] {
  const faults: SchemaFault[] = [];
  check(schema, value, '', faults);
  return faults;
}

function check(schema: Schema, value: unknown, path: string, faults: SchemaFault[]): void {
  if (faults.length >= MAX_FAULTS) return;
  const fault = (message: string): unknown => faults.push({ path, message });
  if (schema.type !== undefined && !(typeof schema.type === 'string' ? isOfType(value, schema.type) : schema.type.some((type) => isOfType(value, type))))
    fault(`is not ${[schema.type].flat().join(' or ')}`);
  if (schema.const !== undefined && value !== schema.const) fault(`is not ${JSON.stringify(schema.const)}`);
  if (schema.enum !== undefined && !schema.enum.includes(value as string)) fault(`is not one of ${schema.enum.join(', ')}`);
  if (typeof value === 'string') checkString(schema, value, fault);
  if (typeof value === 'number') checkNumber(schema, value, fault);
  if (Array.isArray(value)) checkList(schema, value, path, faults);
  else if (isOfType(value, 'object')) checkObject(schema, value as Record<string, unknown>, path, faults);
}

const patterns = new Map<string, RegExp>();

function patternOf(text: string): RegExp {
  const pattern = patterns.get(text) ?? new RegExp(text, 'u');
  patterns.set(text, pattern);
  return pattern;
}

function checkString(schema: Schema, value: string, fault: (message: string) => void): void {
  if (schema.pattern !== undefined && !patternOf(schema.pattern).test(value)) fault(`does not match ${schema.pattern}`);
  if (schema.minLength === undefined && schema.maxLength === undefined) return;
  const length = [...value].length;
  if (length < (schema.minLength ?? 0)) fault(`is shorter than ${schema.minLength} characters`);
  if (length > (schema.maxLength ?? Number.POSITIVE_INFINITY)) fault(`is longer than ${schema.maxLength} characters`);
}

function checkNumber(schema: Schema, value: number, fault: (message: string) => void): void {
  if (value < (schema.minimum ?? Number.NEGATIVE_INFINITY)) fault(`is less than ${schema.minimum}`);
  if (value > (schema.maximum ?? Number.POSITIVE_INFINITY)) fault(`is greater than ${schema.maximum}`);
}

function checkList(schema: Schema, items: readonly unknown[], path: string, faults: SchemaFault[]): void {
  if (items.length < (schema.minItems ?? 0)) faults.push({ path, message: `has fewer than ${schema.minItems} items` });
  if (items.length > (schema.maxItems ?? Number.POSITIVE_INFINITY)) faults.push({ path, message: `has more than ${schema.maxItems} items` });
  const texts = schema.uniqueItems === true ? items.filter((item) => typeof item === 'string') : [];
  if (new Set(texts).size < texts.length) faults.push({ path, message: 'contains a duplicate item' });
  const itemSchema = schema.items;
  if (itemSchema === undefined) return;
  for (const [at, item] of items.entries()) check(itemSchema, item, `${path}/${at}`, faults);
}

function checkObject(schema: Schema, value: Readonly<Record<string, unknown>>, path: string, faults: SchemaFault[]): void {
  const { properties = {}, required = [], additionalProperties } = schema;
  for (const key of required) if (!Object.hasOwn(value, key)) faults.push({ path, message: `is missing the key ${JSON.stringify(key)}` });
  for (const [key, member] of Object.entries(value)) {
    if (faults.length >= MAX_FAULTS) return;
    const known = Object.hasOwn(properties, key) ? properties[key] : additionalProperties;
    if (known === false) faults.push({ path, message: `has the unknown key ${JSON.stringify(key)}` });
    else if (known !== undefined) check(known, member, `${path}/${escaped(key)}`, faults);
  }
}

/** RFC 6901. Most keys need no escapes, and a document has very many keys. */
function escaped(key: string): string {
  return key.includes('~') || key.includes('/') ? key.replaceAll('~', '~0').replaceAll('/', '~1') : key;
}

function isOfType(value: unknown, type: JsonType): boolean {
  switch (type) {
    case 'null':
      return value === null;
    case 'array':
      return Array.isArray(value);
    case 'object':
      return value !== null && typeof value === 'object' && !Array.isArray(value);
    case 'integer':
      return Number.isInteger(value);
    default:
      return typeof value === type;
  }
}
