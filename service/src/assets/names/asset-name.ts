import type { Asset, AssetType } from '@rrs/scan-reports';
import { parsePurl, purlText } from '@rrs/scan-reports/purl.ts';
import { normalHost } from './host.ts';
import { familiarName, parseImageReference } from './image.ts';
import { normalRepository } from './repository.ts';
import { normalWebApplication, webHost } from './web.ts';

/** An asset's name in the form in which all its spellings are equal, apart from the build that was scanned. */
export interface NormalAsset {
  type: AssetType;
  /** For people: `nginx`, `github.com/acme/shop`, `https://shop.example.com`. */
  name: string;
  /** Identifies the asset: `container_image:docker.io/library/nginx`. */
  key: string;
  /** Keys that several assets may share. They recognize only an asset of which nothing better is known. */
  weakKeys: string[];
  /** Tag of an image. */
  tag: string | null;
  digest: string | null;
  commit: string | null;
  ref: string | null;
  /** The release that the report states apart from the name. */
  version: string | null;
  workload: string | null;
}

/** Never throws: a name that cannot be read is its own normal form. */
export function normalAsset(asset: Asset): NormalAsset {
  const stated = {
    tag: null,
    digest: asset.identifiers?.find(({ kind }) => kind === 'digest')?.value.toLowerCase() ?? null,
    commit: text(asset.commit)?.toLowerCase() ?? null,
    ref: text(asset.ref),
    version: text(asset.version),
    workload: text(asset.workload),
  };
  const { key, ...named } = namesOf(asset);
  return { type: asset.type, weakKeys: [], ...stated, ...named, key: `${asset.type}:${key}` };
}

type Names = Pick<NormalAsset, 'name' | 'key'> & Partial<NormalAsset>;

function namesOf(asset: Asset): Names {
  const name = asset.name.trim();
  switch (asset.type) {
    case 'container_image':
      return imageNames(name, asset);
    case 'repository': {
      const repository = normalRepository(name);
      return { ...repository, key: repository.name.toLowerCase() };
    }
    case 'host': {
      const host = normalHost(name);
      return { name: host, key: host };
    }
    case 'web_application': {
      const application = normalWebApplication(name);
      const host = webHost(name);
      return { name: application ?? name, key: application ?? name.toLowerCase(), weakKeys: host === null ? [] : [`web-host:${host}`] };
    }
    case 'package':
      return packageNames(name);
    case 'cloud_resource':
      // Azure ignores the case of its resource ids, and its own services disagree about it. ARNs are case-sensitive.
      return { name, key: /^\/subscriptions\//i.test(name) ? name.toLowerCase() : name };
    case 'other':
      return { name, key: name };
  }
}

function imageNames(name: string, { version }: Asset): Names {
  const reference = parseImageReference(name);
  if (reference === null) return { name, key: name.toLowerCase() };
  const { repository, tag, digest } = reference;
  // The default tag is not meant if the report states elsewhere what was scanned.
  const isDefault = tag === 'latest' && !/:latest(?:@|$)/.test(name);
  const found = { tag: isDefault && text(version) !== null ? null : tag, ...(digest === null ? {} : { digest }) };
  return { ...found, name: repository === null ? (digest ?? name) : familiarName(repository), key: repository ?? digest ?? name };
}

function packageNames(name: string): Names {
  const purl = parsePurl(name);
  if (purl === null) return { name, key: name.toLowerCase() };
  const plain = purlText({ ...purl, version: undefined, qualifiers: {}, subpath: undefined });
  return { name: plain, key: plain.toLowerCase(), ...(purl.version === undefined ? {} : { version: purl.version }) };
}

function text(given: string | undefined): string | null {
  const trimmed = given?.trim();
  return trimmed ? trimmed : null;
}
