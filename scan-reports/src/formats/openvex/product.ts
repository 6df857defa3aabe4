import type { Asset, Location } from '../../contract.ts';
import { RecordError, repositoryAsset } from '../../shared/normalize.ts';
import { packageName, parsePurl } from '../../shared/purl.ts';
import { arr, isObj, type Obj, obj, str } from '../../shared/read.ts';

/** A product or a subcomponent. */
export interface Product {
  /** Its `@id`, or its package URL if it has no other id. */
  id: string;
  purl: string | undefined;
  /** SHA-256 in hexadecimal. */
  sha256: string | undefined;
  subcomponents: Product[];
}

export function productOf(given: unknown): Product {
  // Up to version 0.0.1, a product is a text.
  const product: Obj = isObj(given) ? given : { '@id': given };
  const { purl: stated, cpe23, cpe22 } = obj(product.identifiers);
  const own = str(product['@id']);
  const purl = [str(stated), own].find((candidate) => parsePurl(candidate) !== null);
  const id = own ?? purl ?? str(cpe23) ?? str(cpe22);
  if (id === undefined) throw new RecordError('a product has neither @id nor identifiers');
  return { id, purl, sha256: str(obj(product.hashes)['sha-256']), subcomponents: arr(product.subcomponents).map(productOf) };
}

/** The asset that a product is: an image, a repository, a package, or something with an id of its own. */
export function assetOf({ id, purl, sha256 }: Product): Asset {
  const parsed = parsePurl(purl);
  if (purl === undefined || parsed === null) return { type: 'other', name: id };
  if (parsed.type === 'oci' || parsed.type === 'docker') return imageOf(purl, sha256);
  const name = [parsed.namespace, parsed.name].filter(Boolean).join('/');
  const repository = parsed.type === 'github' ? repositoryAsset(`https://github.com/${name}`) : null;
  return repository ?? { type: 'package', name: packageName(parsed.namespace, parsed.name, parsed.type), identifiers: [{ kind: 'purl', value: purl }] };
}

/** `pkg:oci/shop@sha256:…?repository_url=registry.example.com/shop&tag=1.4`, or `pkg:docker/library/nginx@1.25`. */
function imageOf(purl: string, sha256: string | undefined): Asset {
  const { namespace, name, version } = parsePurl(purl) ?? { name: purl };
  const qualifiers = new URLSearchParams(/\?([^#]*)/.exec(purl)?.[1] ?? '');
  const isDigest = version?.startsWith('sha256:') === true;
  const tag = qualifiers.get('tag') ?? (isDigest ? null : version);
  const repository = qualifiers.get('repository_url') ?? [namespace, name].filter(Boolean).join('/');
  const digest = isDigest ? version : sha256 === undefined ? undefined : `sha256:${sha256}`;
  return {
    type: 'container_image',
    name: tag ? `${repository}:${tag}` : digest ? `${repository}@${digest}` : repository,
    ...(digest === undefined ? {} : { identifiers: [{ kind: 'digest', value: digest }] }),
  };
}

export function packageOf({ id, purl }: Product): Partial<Location> {
  const parsed = parsePurl(purl);
  if (purl === undefined || parsed === null) return { component: id };
  return { component: packageName(parsed.namespace, parsed.name, parsed.type), ...(parsed.version ? { version: parsed.version } : {}), purl };
}
