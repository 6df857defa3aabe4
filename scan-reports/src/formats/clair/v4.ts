import type { Asset, ReportEntry, ReportInput } from '../../contract.ts';
import { jsonValues, placeOf } from '../../json/values.ts';
import { record, required } from '../../shared/normalize.ts';
import { type Obj, obj, str, strs } from '../../shared/read.ts';
import { runEntry, startComponents } from '../../shared/run.ts';
import { clairObservation } from './vulnerability.ts';

interface Package {
  name: string | undefined;
  version: string | undefined;
  source: string | undefined;
}

interface Index {
  asset: Asset | null;
  packages: ReadonlyMap<string, Package>;
  /** Package ids by vulnerability id. */
  affected: ReadonlyMap<string, ReadonlySet<string>>;
  /** Whether the file is the report of the indexer, which comes before the search for vulnerabilities. */
  isIndex: boolean;
}

/** Vulnerabilities, packages and their relation are three separate maps. The last two are read in a first pass. */
export async function* readV4(input: ReportInput): AsyncGenerator<ReportEntry> {
  const { asset, packages, affected, isIndex } = await readIndex(input);
  yield* runEntry({ asset });
  const components = startComponents();
  for (const one of packages.values()) components.add(one, true);
  yield* runEntry(isIndex ? { inventory_only: true } : { components: components.list() });
  // Without packages, there was nothing to look at.
  if (!isIndex && packages.size === 0) yield* runEntry({ unfinished: true });
  for await (const found of jsonValues(input, ['vulnerabilities.*'])) {
    const place = placeOf(found);
    if (found.error) {
      yield { rejection: { place, reason: found.error } };
      continue;
    }
    const entry = obj(found.value);
    yield* record(place, () => {
      const name = required(str(entry.name), 'name');
      const owners = [...(affected.get(String(found.path[1])) ?? [])].map((id) => packages.get(id));
      return (owners.length > 0 ? owners : [undefined]).map((owner) =>
        clairObservation({
          place,
          name,
          description: str(entry.description),
          severity: knownSeverity(str(entry.normalized_severity)) ?? str(entry.severity),
          links: str(entry.links)?.split(/\s+/) ?? [],
          cvss: [],
          asset,
          component: required(owner?.name ?? str(obj(entry.package).name), 'the package name'),
          version: owner?.version,
          fixed: str(entry.fixed_in_version),
          distribution: str(obj(entry.distribution).did) ?? str(obj(entry.dist).did),
          source: owner?.source,
          tags: strs(entry.updater),
        }),
      );
    });
  }
}

function knownSeverity(normalized: string | undefined): string | undefined {
  return normalized === 'Unknown' ? undefined : normalized;
}

function packageOf({ name, version, source }: Obj): Package {
  return { name: str(name), version: str(version), source: str(obj(source).name) };
}

async function readIndex(input: ReportInput): Promise<Index> {
  const packages = new Map<string, Package>();
  const affected = new Map<string, Set<string>>();
  let asset: Asset | null = null;
  let isIndex = false;
  for await (const { path, value } of jsonValues(input, ['manifest_hash', 'packages.*', 'package_vulnerabilities.*', 'state', 'success'])) {
    const key = String(path[1]);
    const digest = path[0] === 'manifest_hash' ? str(value) : undefined;
    if (digest) asset = { type: 'container_image', name: digest, identifiers: [{ kind: 'digest', value: digest }] };
    else if (path[0] === 'state' || path[0] === 'success') isIndex = true;
    else if (path[0] === 'packages') packages.set(key, packageOf(obj(value)));
    else for (const id of strs(value)) affected.set(id, (affected.get(id) ?? new Set()).add(key));
  }
  return { asset, packages, affected, isIndex };
}
