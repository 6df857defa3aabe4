import { formats } from '@rrs/scan-reports';
import type { FieldError } from '../../shared/errors.ts';
import { textCheck, validationFailed } from '../../validation/check.ts';
import { ScanScopeOfAsset } from '../schemas.ts';
import type { NewImport, ScanScope as Scope } from './manage-imports.ts';
import { UNSPECIFIED } from './report-assets.ts';

export type ImportFields = Omit<NewImport, 'sha256' | 'bytes'>;

type Fields = Readonly<Record<string, unknown>>;
type Report = (path: string, detail: string, code?: string) => void;

const checkScope = textCheck(ScanScopeOfAsset, '/scan_scope');

/** Reads the fields of an upload from the query and the form. The form takes precedence. Throws with all mistakes. */
export function readFields({ query, form }: { query: Fields; form: Fields }, filename: string | null): ImportFields {
  const given = { ...query, ...form };
  const errors: FieldError[] = [];
  const wrong: Report = (path, detail, code = 'invalid') => {
    errors.push({ in: (path.split('/')[1] ?? '') in form ? 'body' : 'query', path, code, detail });
  };
  const known = ['format', 'filename', 'scan_scope', 'dry_run'];
  for (const name of Object.keys(given)) if (!known.includes(name)) wrong(`/${name}`, `is not a known field. Allowed: ${known.join(', ')}`);
  const format = given.format === undefined || given.format === '' ? null : String(given.format);
  if (format !== null && !formats.some(({ id }) => id === format)) wrong('/format', `must be one of: ${formats.map(({ id }) => id).join(', ')}`);
  const dryRun = String(given.dry_run ?? 'false');
  if (!['true', 'false'].includes(dryRun)) wrong('/dry_run', 'must be true or false');
  const scope = readScope(given.scan_scope, wrong);
  if (errors.length > 0) throw validationFailed(errors);
  const name = typeof given.filename === 'string' && given.filename !== '' ? given.filename : filename;
  return { format, filename: name?.slice(0, 300) ?? null, scan_scope: scope, dry_run: dryRun === 'true' };
}

function readScope(text: unknown, wrong: Report): Scope {
  if (text === undefined || text === '') return {};
  let value: unknown;
  try {
    value = JSON.parse(String(text));
  } catch {
    wrong('/scan_scope', 'must be a JSON object');
    return {};
  }
  const { asset, ...rest } = Object(value) as Scope;
  for (const { path, detail, code } of checkScope(asset === UNSPECIFIED ? rest : value)) wrong(path, detail, code);
  return value as Scope;
}
