import { type Connector, connectors } from '@rrs/connectors';
import type { TObject } from 'typebox';
import { AppError } from '../../shared/errors.ts';

/** The connectors that are available. Tests pass their own. */
export type Providers = readonly Connector[];
export const builtIn: Providers = connectors;

/** The connector of a stored connection. */
export function providerOf(providers: Providers, id: string): Connector {
  const found = providers.find((provider) => provider.id === id);
  if (!found) throw new Error(`there is no connector "${id}"`);
  return found;
}

/** The connector that a caller named. The error lists the valid ids. */
export function requestedProvider(providers: Providers, id: string): Connector {
  const found = providers.find((provider) => provider.id === id);
  if (found) return found;
  const detail = `must be a provider of GET /api/v1/integrations/catalog: ${providers.map((provider) => provider.id).join(', ')}`;
  throw new AppError('validation_failed', `\`provider\` ${detail}.`, { errors: [{ in: 'body', path: '/provider', code: 'not_allowed', detail }] });
}

/** The schema that callers see: unknown fields are refused, and fields with a default are optional. */
export function strict(schema: TObject): object {
  const required = (schema.required ?? []).filter((name) => !('default' in (schema.properties[name] ?? {})));
  return { ...schema, required, additionalProperties: false };
}
