import type { Static } from 'typebox';
import type { Location } from './shapes.ts';

/** The stored location may also have a `fingerprint`, which is internal: it takes part in the identity. */
export function shownLocation(stored: unknown): Static<typeof Location> {
  const location = stored as Partial<Static<typeof Location>>;
  return {
    component: location.component ?? null,
    version: location.version ?? null,
    fixed_version: location.fixed_version ?? null,
    purl: location.purl ?? null,
    path: location.path ?? null,
    line: location.line ?? null,
    end_line: location.end_line ?? null,
    port: location.port ?? null,
    protocol: location.protocol ?? null,
    url: location.url ?? null,
    method: location.method ?? null,
    parameter: location.parameter ?? null,
    resource: location.resource ?? null,
  };
}
