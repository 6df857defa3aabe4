import { type Connector, connectors } from '@rrs/connectors';
import type { TObject } from 'typebox';
import { AppError } from '../../shared/errors.ts';

/** Which vendors there are. Tests bring their own. */
export type Providers = readonly Connector[];
export const builtIn: Providers = connectors;

export function providerOf(providers: Providers, id: string): Connector {
  const found = providers.find((provider) => provider.id === id);
  if (!found) throw new Error(`there is no connector ${id}`);
  return found;
}

/** What a caller may choose; a mistake lists what there is. */
export function chosenProvider(providers: Providers, id: string): Connector {
  const found = providers.find((provider) => provider.id === id);
  if (found) return found;
  const detail = `is none of the providers of GET /api/v1/integrations/catalog: ${providers.map((provider) => provider.id).join(', ')}`;
  throw new AppError('validation_failed', `The provider ${detail}.`, { errors: [{ in: 'body', path: '/provider', code: 'not_allowed', detail }] });
}

/** The schema as callers see it: what it does not name is refused, what has a default may be left out. */
export function strict(schema: TObject): object {
  const required = (schema.required ?? []).filter((name) => !('default' in (schema.properties[name] ?? {})));
  return { ...schema, required, additionalProperties: false };
}
