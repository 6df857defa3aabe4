import { formats } from '@rrs/scan-reports';
import type { FieldError } from '../../shared/errors.ts';
import { textCheck, validationFailed } from '../../validation/check.ts';
import { ScanScopeOfAsset } from '../schemas.ts';
import type { NewImport, ScanScope as Scope } from './manage-imports.ts';
import { hasNoParts, UNSPECIFIED } from './report-assets.ts';
import { isAhead } from './run-times.ts';

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
  const mistakes = checkScope(asset === UNSPECIFIED ? rest : value);
  for (const { path, detail, code } of mistakes) wrong(path, detail, code);
  if (mistakes.length === 0) assertPossible(value as Scope, wrong);
  return value as Scope;
}

/** Reports scopes that no scan can have had, whatever the report says. */
function assertPossible({ asset, version, path, started_at }: Scope, wrong: Report): void {
  if (started_at !== undefined && isAhead(new Date(started_at), new Date())) wrong('/scan_scope/started_at', 'must not be in the future');
  if (version !== undefined && asset === UNSPECIFIED)
    wrong('/scan_scope/version', 'must be left out if the asset is "unspecified": it is a build of the asset');
  if (path === undefined) return;
  if (isOutside(path)) wrong('/scan_scope/path', 'must be relative to the root of the repository and must not lead out of it, for example "services/pay"');
  if (typeof asset === 'object' && hasNoParts(asset.type)) {
    wrong('/scan_scope/path', `names a part of a repository, but the asset is a ${asset.type}. Leave out the path`);
  }
}

/** Whether a path is absolute or leads out of the folder that it is relative to. */
function isOutside(path: string): boolean {
  const parts = path.trim().split(/[\\/]/);
  if (parts[0] === '' || /^[a-z]:/i.test(path.trim()) || path.includes('://')) return true;
  let depth = 0;
  for (const part of parts) {
    if (part === '..') depth -= 1;
    else if (part !== '' && part !== '.') depth += 1;
    if (depth < 0) return true;
  }
  return false;
}
