import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
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

describe.each(connectors.map((connector) => [connector.id, connector] as const))('%s', (id, connector) => {
  const fields = [...Object.entries(connector.config.properties), ...Object.entries(connector.credentials.properties)] as [string, Record<string, unknown>][];

  it('has a name, a description and described fields', () => {
    expect(id).toMatch(/^[a-z][a-z0-9_]*$/);
    expect(connector.name.length).toBeGreaterThan(1);
    expect(connector.description).toMatch(/\.$/);
    expect(URL.canParse(connector.documentation)).toBe(true);
    expect(connector.permissions.length).toBeGreaterThan(10);
    for (const [name, field] of fields) {
      expect({ name, title: field.title, description: field.description }).toEqual({
        name,
        title: expect.stringMatching(/\S/),
        description: expect.stringMatching(/^[A-Z{h].+\.$/),
      });
      expect(name).toMatch(/^[a-z][a-z0-9_]*$/);
    }
  });

  it('marks secret fields', () => {
    const secret = /token|secret|password|api_key|private/;
    for (const [name, field] of Object.entries(connector.credentials.properties) as [string, Record<string, unknown>][])
      if (secret.test(name) && !/_id$|_url$/.test(name)) expect({ name, writeOnly: field.writeOnly }).toEqual({ name, writeOnly: true });
    for (const [name, field] of Object.entries(connector.config.properties) as [string, Record<string, unknown>][])
      expect({ name, secret: secret.test(name) && field.type === 'string' && !/_url$|_field$/.test(name) }).toEqual({ name, secret: false });
  });
});
