export interface ImageReference {
  /** Registry and path in lower case: `docker.io/library/nginx`. Null for a bare digest or image id. */
  repository: string | null;
  /** `latest` if the reference has neither tag nor digest. */
  tag: string | null;
  digest: string | null;
}

const DIGEST = /^(?:sha\d+:[0-9a-f]+|[0-9a-f]{64})$/i;
const REFERENCE =
  /^(?:([a-z0-9.-]+|\[[0-9a-f:]+\])(:\d+)?\/)?([a-z0-9]+(?:[._-]+[a-z0-9]+)*(?:\/[a-z0-9]+(?:[._-]+[a-z0-9]+)*)*)(?::([\w][\w.-]{0,127}))?(?:@([a-z0-9]+:[0-9a-f]+))?$/i;

/** What tools put in front of a reference to say where the image comes from. */
const SOURCE = /^(?:[a-z][a-z-]*:\/\/|(?:docker|podman|containerd|registry|oci-registry|oci):)/i;

const DOCKER_HUB = new Set(['docker.io', 'index.docker.io', 'registry-1.docker.io', 'registry.hub.docker.com']);

/**
 * Parses the reference of a container image as Docker reads it: without a registry it is on Docker Hub, without a path its images are in `library`.
 * Null if the text is not a reference.
 */
export function parseImageReference(text: string): ImageReference | null {
  const trimmed = text.trim();
  if (DIGEST.test(trimmed)) return { repository: null, tag: null, digest: trimmed.toLowerCase().replace(/^(?!sha)/, 'sha256:') };
  // "docker:24-dind" is the image `docker`, but "docker:nginx:1.19" is not a reference before its first part is removed.
  return readReference(trimmed) ?? readReference(trimmed.replace(SOURCE, ''));
}

function readReference(text: string): ImageReference | null {
  const [whole, first, port = '', rest = '', tag, digest] = REFERENCE.exec(text) ?? [];
  if (whole === undefined) return null;
  return {
    repository: repositoryName(first, port, rest).toLowerCase(),
    tag: tag ?? (digest === undefined ? 'latest' : null),
    digest: digest?.toLowerCase() ?? null,
  };
}

/** The first part is a registry only if it looks like a host: with a dot or a port, or "localhost". Otherwise it belongs to the path. */
function repositoryName(first: string | undefined, port: string, rest: string): string {
  if (first === undefined) return `docker.io/library/${rest}`;
  const host = first.toLowerCase();
  if (DOCKER_HUB.has(host)) return `docker.io/${rest.includes('/') ? rest : `library/${rest}`}`;
  if (port !== '' || host.includes('.') || host.includes(':') || host === 'localhost') return `${host}${port}/${rest}`;
  return `docker.io/${host}/${rest}`;
}

/** The repository as people write it: `nginx`, `acme/shop`, `ghcr.io/acme/shop`. */
export function familiarName(repository: string): string {
  const short = repository.replace(/^docker\.io\/(?:library\/)?/, '');
  // Without its registry, a first part with a dot would be read as one.
  return /^[^/.:]*[.:][^/]*\/|^localhost\//.test(short) ? repository : short;
}
