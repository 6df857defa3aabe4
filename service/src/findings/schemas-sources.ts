import { Type } from 'typebox';
import { listParameters, PageOf } from '../http/paging.ts';
import { Id, Named, Nullable, Strict, Text, Timestamp } from '../http/schemas.ts';
import { Source } from './fields/shapes.ts';

export const SourceParams = Strict({ id: Id });
export const SourceDetails = Named('SourceDetails', {
  ...Source.properties,
  path: Type.String({ description: 'The part of a repository that the scans cover. Otherwise empty', examples: [''] }),
  first_scan: Nullable({ ...Timestamp, description: 'Time of the first scan' }),
  last_scan: Nullable({ ...Timestamp, description: 'Time of the last scan' }),
  open_findings: Type.Integer({ minimum: 0, description: 'How many active findings the source still sees' }),
  stale: Type.Boolean({ description: 'Whether the source has scanned nothing for 45 days. Nothing is closed because of it', examples: [false] }),
  retired_at: Nullable({ ...Timestamp, description: 'When the source was retired', examples: [null] }),
  retired_by: Nullable(Type.String({ description: 'Who retired the source', examples: [null] })),
  retired_reason: Nullable(Type.String({ description: 'Why the source was retired', examples: [null] })),
  created_at: { ...Timestamp, description: 'When the source was first used' },
});
export const SourceList = PageOf('SourceList', SourceDetails);
export const SourceQuery = Strict({
  ...listParameters(['created_at'] as const, '-created_at'),
  retired: Type.Optional(Type.Boolean({ description: '`true`: only retired sources. `false`: only sources in use. Default: both' })),
  stale: Type.Optional(Type.Boolean({ description: 'Whether the source has scanned nothing for 45 days' })),
});
export const SourceRetirement = Named(
  'SourceRetirement',
  { reason: Text(3, 2_000, { description: 'Why the source is retired' }) },
  { examples: [{ reason: 'replaced by another scanner' }] },
);
