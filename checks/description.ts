import type { Check, Violation } from './sources.ts';

const PATH = 'service/openapi.json';

interface Schema {
  title?: string;
  description?: string;
  $ref?: string;
  properties?: Record<string, Schema>;
  items?: Schema;
}

interface Operation {
  operationId: string;
  summary?: string;
  description?: string;
  parameters?: { name: string; description?: string; $ref?: string }[];
}

interface Description {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
}

/** The published description: every operation starts with a verb in the third person, every parameter and field is described. */
export const apiDescription: Check = (sources) => {
  const source = sources.find(({ path }) => path === PATH);
  if (!source) return [];
  const description = JSON.parse(source.text) as Description;
  const said = (message: string): Violation => ({ path: PATH, line: 1, message });
  const operations = Object.values(description.paths).flatMap((methods) => Object.values(methods).filter((operation) => operation.operationId !== undefined));
  return [
    ...operations.flatMap(({ operationId, description: text = '', parameters = [] }) => [
      ...(/^[A-Z][a-z]+s\b/.test(text)
        ? []
        : [said(`${operationId}: begin the description with a verb in the third person ("Returns …"): ${text.slice(0, 60)}`)]),
      ...parameters.flatMap(({ name, description: about, $ref }) => (about || $ref ? [] : [said(`${operationId}: the parameter ${name} has no description`)])),
    ]),
    ...Object.entries(description.components.schemas).flatMap(([name, schema]) =>
      undescribed(name, schema).map((field) => said(`the field ${field} has no description`)),
    ),
  ];
};

function undescribed(at: string, { properties = {}, items }: Schema): string[] {
  return [
    ...Object.entries(properties).flatMap(([name, field]) => {
      const path = `${at}.${name}`;
      return [...(field.description || field.$ref ? [] : [path]), ...undescribed(path, field)];
    }),
    ...(items ? undescribed(`${at}[]`, items) : []),
  ];
}
