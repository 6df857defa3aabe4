import { type Asset, type AssetType, assetTypes, type Observation } from '../../contract.ts';
import { remembered } from '../../remembered.ts';
import { hostAsset, observation, RecordError, repositoryAsset, webAsset } from '../../shared/normalize.ts';
import type { Obj } from '../../shared/read.ts';
import { CSV_LISTS, CSV_NUMBERS, type Fields, fields, REQUIRED } from './fields.ts';

type Checked = Fields & Pick<Observation, 'title' | 'severity'>;

/** Throws with all problems of the record, so that the author can fix them at once. */
function checked(given: Obj, allowed: readonly string[]): Checked {
  const own: Record<string, unknown> = {};
  const wrong: string[] = [];
  const unknown: string[] = [];
  for (const name of Object.keys(given)) {
    const value = given[name];
    if (value === null || value === undefined || value === '') continue;
    const field = allowed.includes(name) ? fields[name as keyof Fields] : undefined;
    if (!field) {
      unknown.push(name);
      continue;
    }
    own[name] = field.read(value);
    if (own[name] === undefined) wrong.push(`${name} must be ${field.expected}`);
  }
  const read: Fields = own;
  if (isComplete(read) && wrong.length === 0 && unknown.length === 0) return read;
  const missing = REQUIRED.filter((name) => !(name in own)).map((name) => `${name} is missing`);
  const others = unknown.length > 0 ? [`unknown fields: ${unknown.join(', ')} (allowed: ${allowed.join(', ')})`] : [];
  throw new RecordError([...missing, ...wrong, ...others].join('; '));
}

function isComplete(read: Fields): read is Checked {
  return read.title !== undefined && read.severity !== undefined;
}

export function observationOf(given: Obj, allowed: readonly string[], place: string): Observation {
  const own = checked(given, allowed);
  const ids = [...(own.cves ?? []), ...(own.vulnerability_ids ?? [])];
  const vectors = [own.cvss, own.cvss_vector].flatMap((vector) => vector ?? []);
  return observation({
    place,
    tool: (own.tool ?? 'generic').toLowerCase(),
    rule: own.rule ?? (ids.length > 0 ? null : own.title),
    external_id: own.id,
    title: own.title,
    description: own.description,
    solution: own.solution,
    severity: own.severity,
    tool_severity: own.severity,
    vulnerability_ids: ids,
    cwes: own.cwes,
    cvss: vectors.map((vector) => ({ vector })),
    references: own.references,
    asset: assetOf(own),
    location: {
      component: own.component,
      version: own.version,
      fixed_version: own.fixed_version,
      purl: own.purl,
      path: own.path,
      line: own.line,
      port: own.port,
      protocol: own.protocol?.toLowerCase(),
      url: own.url,
      method: own.method?.toUpperCase(),
      parameter: own.parameter,
      resource: own.resource,
    },
    present: own.status !== 'fixed',
    first_seen: own.first_seen,
    last_seen: own.last_seen,
    tags: own.tags,
    fix_published_date: own.fix_published_date,
  });
}

/** Names the asset as the formats of tools do, so that findings of both belong to one asset. */
export function assetOf({ asset, asset_type, asset_name }: Fields): Asset | null {
  if (asset && (asset_type || asset_name)) throw new RecordError('use either asset, or asset_name and asset_type');
  if (asset_type && !asset_name) throw new RecordError('asset_name is missing');
  const type = asset?.type ?? asset_type ?? 'other';
  const name = asset?.name ?? asset_name;
  return name === undefined ? null : (namedAssets.get(type)?.(name) ?? null);
}

const namedAssets = new Map(assetTypes.map((type) => [type, remembered((name) => namedAsset(type, name))]));

function namedAsset(type: AssetType, name: string): Asset | null {
  if (type === 'host') return hostAsset({ given: name });
  if (type === 'repository') return repositoryAsset(name);
  return (type === 'web_application' ? webAsset(name) : null) ?? { type, name };
}

/** Converts a CSV row to the equivalent JSON record. */
export function rowOf(cells: Readonly<Record<string, string>>): Obj {
  return Object.fromEntries(
    Object.entries(cells)
      .filter(([name, cell]) => name !== '' && cell !== '')
      .map(([name, cell]) => {
        if (CSV_LISTS.includes(name)) {
          const items = cell.split(';').map((item) => item.trim());
          return [name, items.filter((item) => item !== '')];
        }
        return [name, CSV_NUMBERS.includes(name) && /^\d+$/.test(cell) ? Number(cell) : cell];
      }),
  );
}
