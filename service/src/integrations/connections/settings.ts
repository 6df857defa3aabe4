import { authorityOf, authorityProblems, type Connector, originsOf, type Settings } from '@rrs/connectors';
import type { FieldError } from '../../shared/errors.ts';
import { partCheck, validationFailed } from '../../validation/check.ts';
import { strict } from './providers.ts';

type Values = Record<string, unknown>;
type Check = (value: unknown) => FieldError[];

/** Returns why the service must not send requests to a URL, or null if it may. */
export type Refusal = (url: URL) => string | null;

const INVALID_URL = 'must be an http or https URL without a user name or password';

/** Fills in defaults and reports all errors at once, each at its field. */
export function checkedSettings(provider: Connector, given: { config: Values; credentials: Values }, refusal: Refusal): Settings {
  const settings = { config: { ...given.config }, credentials: { ...given.credentials } };
  const check = checksOf(provider);
  const schemaErrors = [...check.config(settings.config), ...check.credentials(settings.credentials)];
  const valueErrors = [...urlErrors(provider, settings.config, refusal), ...characterErrors(provider, settings.credentials)];
  const errors = [...schemaErrors, ...valueErrors.filter(({ path }) => !schemaErrors.some((error) => error.path === path))];
  if (errors.length === 0) errors.push(...combinationErrors(provider, settings as Settings, refusal));
  if (errors.length > 0) throw validationFailed(errors);
  return settings as Settings;
}

const checks = new WeakMap<Connector, { config: Check; credentials: Check }>();

function checksOf(provider: Connector): { config: Check; credentials: Check } {
  const cached = checks.get(provider);
  if (cached) return cached;
  const created = { config: partCheck(strict(provider.config), '/config'), credentials: partCheck(strict(provider.credentials), '/credentials') };
  checks.set(provider, created);
  return created;
}

function urlErrors(provider: Connector, config: Values, refusal: Refusal): FieldError[] {
  return Object.entries(provider.config.properties).flatMap(([name, field]): FieldError[] => {
    const value = config[name];
    if (!('format' in field) || field.format !== 'uri' || typeof value !== 'string') return [];
    const url = URL.canParse(value) ? new URL(value) : null;
    const path = `/config/${name}`;
    if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password) return [{ in: 'body', path, code: 'wrong_format', detail: INVALID_URL }];
    return refusedUrl(path, url, refusal);
  });
}

function refusedUrl(path: string, url: URL, refusal: Refusal): FieldError[] {
  const detail = refusal(url);
  return detail === null ? [] : [{ in: 'body', path, code: 'not_allowed', detail }];
}

/** Credentials are sent in HTTP headers, which cannot contain control characters. Keys of several lines are not sent. */
function characterErrors(provider: Connector, credentials: Values): FieldError[] {
  return Object.entries(credentials).flatMap(([name, value]): FieldError[] => {
    if (typeof value !== 'string' || !/\p{Cc}/u.test(value) || 'x-multiline' in (provider.credentials.properties[name] ?? {})) return [];
    return [{ in: 'body', path: `/credentials/${name}`, code: 'invalid_character', detail: 'must not contain line breaks or control characters' }];
  });
}

/** Checks that only make sense once every field is valid: combinations of fields, and the URLs that the connector builds from them. */
function combinationErrors(provider: Connector, settings: Settings, refusal: Refusal): FieldError[] {
  const problems = [...authorityProblems(provider, settings, new Date()), ...(provider.problems?.(settings) ?? [])];
  if (problems.length > 0) return problems.map(({ path, detail }) => ({ in: 'body', path, code: 'invalid', detail }));
  try {
    return [...originsOf(provider, settings)].flatMap((origin) => refusedUrl('/config', new URL(origin), refusal));
  } catch {
    return [{ in: 'body', path: '/config', code: 'wrong_format', detail: 'does not result in a valid URL' }];
  }
}

/** Threat: somebody who may change the URL, or whom to trust there, but does not know the secrets could have them sent to a server of their choice. */
export function assertSecretsSupplied(provider: Connector, change: { before: Settings; after: Settings; supplied: Values }): void {
  const { before, after, supplied } = change;
  const known = knownOrigins(provider, before);
  const isSameUrl = [...originsOf(provider, after)].every((origin) => known.has(origin));
  const trusted = authorityOf(provider, after) ?? null;
  if (isSameUrl && (trusted === null || trusted === authorityOf(provider, before))) return;
  const missing = Object.entries(provider.credentials.properties).filter(
    ([name, field]) => 'writeOnly' in field && field.writeOnly === true && (after.credentials as Values)[name] !== undefined && supplied[name] === undefined,
  );
  const detail = `must be supplied again because the ${isSameUrl ? 'certificate authority' : 'URL'} changed`;
  if (missing.length > 0) throw validationFailed(missing.map(([name]) => ({ in: 'body', path: `/credentials/${name}`, code: 'required', detail })));
}

/** Empty if the stored settings are too old for the current version of the connector. */
function knownOrigins(provider: Connector, settings: Settings): ReadonlySet<string> {
  try {
    return originsOf(provider, settings);
  } catch {
    return new Set();
  }
}
