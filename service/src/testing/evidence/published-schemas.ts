import { existsSync, readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';

/** The published schemas of the exported formats, if they are available. */
const SCHEMAS = new URL('../../../../../shared/reference/schemas/', import.meta.url);
export const schemasPresent = existsSync(SCHEMAS);

function schema(name: string): Record<string, unknown> {
  return JSON.parse(readFileSync(new URL(`${name}.json`, SCHEMAS), 'utf8'));
}

const lax = { strict: false, allErrors: true, validateFormats: true, logger: false } as const;

function withFormats<T extends Ajv | Ajv2020>(ajv: T): T {
  // cast: the package is CommonJS, and its types describe an ES module for one kind of Ajv.
  (addFormats as unknown as typeof addFormats.default)(ajv as never);
  for (const name of ['iri', 'iri-reference', 'idn-email']) ajv.addFormat(name, true);
  return ajv;
}

export const schemaChecks = {
  sarif: () => {
    const { id: _, $schema: __, ...sarif } = schema('sarif');
    return withFormats(new Ajv(lax)).compile(sarif);
  },
  'cyclonedx-vex': () => withFormats(new Ajv(lax)).addSchema(schema('spdx')).addSchema(schema('jsf-0.82')).compile(schema('cdx-1.6')),
  openvex: () => withFormats(new Ajv2020(lax)).compile(schema('openvex')),
  'oscal-ar': () => withFormats(new Ajv(lax)).compile(schema('oscal_assessment-results')),
  'oscal-poam': () => withFormats(new Ajv(lax)).compile(schema('oscal_poam')),
};
