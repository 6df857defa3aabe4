import { connectorKinds } from '@rrs/connectors';
import { Type } from 'typebox';
import { Named, Nullable, OneOf } from '../http/schemas.ts';

export const Kind = OneOf(connectorKinds, {
  description: '`scanner` imports findings, `enrichment` adds vulnerability data, `ticketing` keeps tickets in sync',
});
export const Values = (description: string, example: Record<string, unknown>) =>
  Type.Unsafe<Record<string, unknown>>({ type: 'object', additionalProperties: true, description, examples: [example] });

export const Catalog = Named('IntegrationCatalog', {
  data: Type.Array(
    Named('IntegrationProvider', {
      id: Type.String({ description: 'Provider id, used as `provider` when you create a connection', examples: ['snyk'] }),
      kind: Kind,
      name: Type.String({ description: 'Display name', examples: ['Snyk'] }),
      version: Type.Integer({ description: 'Version of the connector. It increases when stored settings need a change', examples: [1] }),
      description: Type.String({ description: 'What the connector does, in one or two sentences' }),
      documentation: Type.String({ format: 'uri', description: "The vendor's documentation of its API", examples: ['https://docs.snyk.io/snyk-api'] }),
      permissions: Type.String({ description: 'Permissions that the credentials need' }),
      capabilities: Type.Array(Type.String({ examples: ['sync'] }), { description: '`test`: can be tested. `sync`: has runs. `tickets`: accepts work items' }),
      inbound_url: Nullable(
        Type.String({
          description: 'URL for webhooks of the vendor. `{connection_id}` stands for the id of the connection. null if the provider receives none',
          examples: ['https://rrs.example/api/v1/integrations/{connection_id}/inbound'],
        }),
      ),
      config_schema: Values(
        'JSON Schema 2020-12 of `config`. Every field has a title, a description, a group (`x-group`: `connection`, `content`, `credentials`, `webhook` or `advanced`) and a position (`x-order`), and free text has `examples` or a default. `x-labels` has the display text for the values of an `enum`. Fields with `x-multiline` have several lines',
        { type: 'object' },
      ),
      credentials_schema: Values(
        'JSON Schema 2020-12 of `credentials`, like `config_schema`. Secrets are `writeOnly` and have the format `password`. `x-link` is the page of the vendor where the secret is created, or its instructions',
        { type: 'object' },
      ),
    }),
    { description: 'All providers' },
  ),
});
