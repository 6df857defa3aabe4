import { type Connector, connectors, type Settings } from '@rrs/connectors';
import type { TObject } from 'typebox';
import { Compile } from 'typebox/schema';
import { AppError, type FieldError } from '../shared/errors.ts';

/** Which vendors there are. Tests bring their own. */
export type Providers = readonly Connector[];
export const builtIn: Providers = connectors;

type Values = Record<string, unknown>;

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
  throw new AppError('validation_failed', `The provider ${detail}.`, { errors: [{ in: 'body', path: '/provider', code: 'enum', detail }] });
}

/** The schema as callers see it: what it does not name is refused. */
export function strict(schema: TObject): TObject {
  return { ...schema, additionalProperties: false } as TObject;
}

/** With the defaults of fields that were left out; all mistakes at once, each at its field. */
export function checkedSettings(provider: Connector, given: { config: Values; credentials: Values }): Settings {
  const settings = { config: withDefaults(provider.config, given.config), credentials: withDefaults(provider.credentials, given.credentials) };
  const errors = [...mistakes(provider.config, settings.config, '/config'), ...mistakes(provider.credentials, settings.credentials, '/credentials')];
  if (errors.length === 0) errors.push(...addressMistakes(provider, settings as Settings));
  if (errors.length > 0) {
    const told = errors.map(({ path, detail }) => `${path} ${detail}`).join('; ');
    throw new AppError('validation_failed', `The settings of ${provider.name} have ${errors.length === 1 ? 'a mistake' : 'mistakes'}: ${told}.`, { errors });
  }
  return settings as Settings;
}

function withDefaults(schema: TObject, given: Values): Values {
  const defaults = Object.entries(schema.properties).flatMap(([name, field]) => ('default' in field ? [[name, field.default] as const] : []));
  return { ...Object.fromEntries(defaults), ...given };
}

function mistakes(schema: TObject, value: Values, at: string): FieldError[] {
  const [, found] = Compile(strict(schema)).Errors(value) as [boolean, readonly Mistake[]];
  const errors = found.flatMap(({ keyword, instancePath, params, message }): FieldError[] => {
    const field = (path: string, code: string, detail: string): FieldError => ({ in: 'body', path: `${at}${path}`, code, detail });
    if (keyword === 'required') return (params.requiredProperties ?? []).map((name) => field(`${instancePath}/${name}`, 'required', 'is required'));
    if (keyword === 'additionalProperties') {
      const known = Object.keys(schema.properties).join(', ') || 'none';
      return (params.additionalProperties ?? []).map((name) => field(`${instancePath}/${name}`, 'unknown_field', `is no field; there are: ${known}`));
    }
    if (keyword === 'enum') return [field(instancePath, 'enum', `must be one of ${(params.allowedValues ?? []).join(', ')}`)];
    return [field(instancePath, keyword, message)];
  });
  // One mistake a field: the rest follows from it.
  return errors.filter(({ path }, index) => errors.findIndex((other) => other.path === path) === index);
}

interface Mistake {
  keyword: string;
  instancePath: string;
  params: { requiredProperties?: string[]; additionalProperties?: string[]; allowedValues?: unknown[] };
  message: string;
}

function addressMistakes(provider: Connector, settings: Settings): FieldError[] {
  const addresses = Object.entries(provider.config.properties).filter(([, field]) => 'format' in field && field.format === 'uri');
  return addresses.flatMap(([name]): FieldError[] => {
    const value = (settings.config as Values)[name];
    if (value === undefined || value === '') return [];
    const url = URL.canParse(String(value)) ? new URL(String(value)) : null;
    if (url && /^https?:$/.test(url.protocol) && !url.username && !url.password) return [];
    return [{ in: 'body', path: `/config/${name}`, code: 'format', detail: 'must be an http or https address without a user name in it' }];
  });
}
