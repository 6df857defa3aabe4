import { type Connector, originsOf, type Settings } from '@rrs/connectors';
import type { FieldError } from '../../shared/errors.ts';
import { partCheck, validationFailed } from '../../validation/check.ts';
import { strict } from './providers.ts';

type Values = Record<string, unknown>;
type Check = (value: unknown) => FieldError[];

/** Why an address that is written out cannot be reached; null where it may be. */
export type Refusal = (url: URL) => string | null;

const ADDRESS = 'must be an http or https address without a user name in it';

/** With the defaults of fields that were left out; all mistakes at once, each at its field. */
export function checkedSettings(provider: Connector, given: { config: Values; credentials: Values }, refusal: Refusal): Settings {
  const settings = { config: { ...given.config }, credentials: { ...given.credentials } };
  const check = checksOf(provider);
  const shape = [...check.config(settings.config), ...check.credentials(settings.credentials)];
  const values = [...addressMistakes(provider, settings.config, refusal), ...characterMistakes(settings.credentials)];
  const errors = [...shape, ...values.filter(({ path }) => !shape.some((mistake) => mistake.path === path))];
  if (errors.length === 0) errors.push(...otherMistakes(provider, settings as Settings, refusal));
  if (errors.length > 0) throw validationFailed(errors);
  return settings as Settings;
}

const checks = new WeakMap<Connector, { config: Check; credentials: Check }>();

function checksOf(provider: Connector): { config: Check; credentials: Check } {
  const known = checks.get(provider);
  if (known) return known;
  const made = { config: partCheck(strict(provider.config), '/config'), credentials: partCheck(strict(provider.credentials), '/credentials') };
  checks.set(provider, made);
  return made;
}

function addressMistakes(provider: Connector, config: Values, refusal: Refusal): FieldError[] {
  return Object.entries(provider.config.properties).flatMap(([name, field]): FieldError[] => {
    const value = config[name];
    if (!('format' in field) || field.format !== 'uri' || typeof value !== 'string') return [];
    const url = URL.canParse(value) ? new URL(value) : null;
    const path = `/config/${name}`;
    if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password) return [{ in: 'body', path, code: 'wrong_format', detail: ADDRESS }];
    return refused(path, url, refusal);
  });
}

function refused(path: string, url: URL, refusal: Refusal): FieldError[] {
  const detail = refusal(url);
  return detail === null ? [] : [{ in: 'body', path, code: 'not_allowed', detail }];
}

/** They go into headers, where nothing of the kind can be sent. */
function characterMistakes(credentials: Values): FieldError[] {
  return Object.entries(credentials).flatMap(([name, value]): FieldError[] => {
    if (typeof value !== 'string' || !/\p{Cc}/u.test(value)) return [];
    return [{ in: 'body', path: `/credentials/${name}`, code: 'invalid_character', detail: 'must not contain line breaks or control characters' }];
  });
}

/** What can be said only of settings whose fields are all right: how they go together, and which addresses are made of them. */
function otherMistakes(provider: Connector, settings: Settings, refusal: Refusal): FieldError[] {
  const problems = provider.problems?.(settings) ?? [];
  if (problems.length > 0) return problems.map(({ path, detail }) => ({ in: 'body', path, code: 'invalid', detail }));
  try {
    return [...originsOf(provider, settings)].flatMap((origin) => refused('/config', new URL(origin), refusal));
  } catch {
    return [{ in: 'body', path: '/config', code: 'wrong_format', detail: 'makes no address that can be asked' }];
  }
}

/** Threat: who may change an address but does not know the secrets must not have them sent to a place of their choice. */
export function assertSecretsGivenAgain(provider: Connector, change: { before: Settings; after: Settings; given: Values }): void {
  const { before, after, given } = change;
  const known = originsBefore(provider, before);
  if ([...originsOf(provider, after)].every((origin) => known.has(origin))) return;
  const kept = Object.entries(provider.credentials.properties).filter(
    ([name, field]) => 'writeOnly' in field && field.writeOnly === true && (after.credentials as Values)[name] !== undefined && given[name] === undefined,
  );
  const detail = 'must be given again because the address changed';
  if (kept.length > 0) throw validationFailed(kept.map(([name]) => ({ in: 'body', path: `/credentials/${name}`, code: 'required', detail })));
}

/** None where the settings are of a time when there were fewer. */
function originsBefore(provider: Connector, settings: Settings): ReadonlySet<string> {
  try {
    return originsOf(provider, settings);
  } catch {
    return new Set();
  }
}
