import type { Artifact, Collection } from './originals.ts';
import type { Scan } from './scan.ts';

/** Where and when the service fetched the content of an artifact itself. */
export interface Capture {
  source: string;
  at: string;
}

/** How each original file came into the package. `captures` has the artifacts that the service fetched itself, by ID. */
export function collectionOf(scans: readonly Scan[], artifacts: readonly Artifact[], captures: ReadonlyMap<string, Capture>): Collection[] {
  return [...scans.flatMap(scanFile), ...artifacts.flatMap((artifact) => artifactFile(artifact, captures.get(artifact.id)))];
}

function scanFile({ file, sha256, size, tool, received_at, delivery }: Scan): Collection[] {
  if (file === null) return [];
  const { method, connection, by } = delivery;
  const collected = { source: connection?.host ?? tool, collected_at: received_at, collected_by: by };
  return [{ file, sha256, size, media_type: 'application/octet-stream', method: method === 'connection' ? 'connection' : 'upload', ...collected }];
}

function artifactFile({ file, sha256, size, media_type, added_at, added_by }: Artifact, capture: Capture | undefined): Collection[] {
  if (file === null || sha256 === null || size === null) return [];
  return [
    {
      file,
      sha256,
      size,
      media_type: media_type ?? 'application/octet-stream',
      method: capture ? 'connection' : 'upload',
      source: capture?.source ?? 'upload',
      collected_at: capture?.at ?? added_at,
      collected_by: added_by,
    },
  ];
}
