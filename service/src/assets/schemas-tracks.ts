import { Type } from 'typebox';
import { listParameters, PageOf } from '../http/paging.ts';
import { Id, Named, Nullable, OneOf, Strict, Text, Timestamp } from '../http/schemas.ts';

const TrackName = Text(1, 200, {
  description: 'Name of the track: a branch, environment or release line. `default` until a scan or a person names it',
  examples: ['main'],
});

export const TrackParams = Strict({ id: Id, name: TrackName });
export const TrackQuery = Strict(listParameters(['name'] as const, 'name'));
export const TrackEndQuery = Strict({
  reason: Type.Optional(Text(3, 2_000, { description: 'Why the track ended', examples: ['the environment was shut down'] })),
});
export const TrackPatch = Named('TrackPatch', { name: TrackName }, { examples: [{ name: 'production' }] });

export const TrackMergeBody = Named(
  'TrackMerge',
  {
    into: { ...TrackName, description: 'Name of the track that stays' },
    reason: Type.Optional(Text(3, 2_000, { description: 'Why the two are one' })),
  },
  { examples: [{ into: 'main', reason: 'the branch was renamed' }] },
);

export const TrackUnmergeBody = Named(
  'TrackUnmerge',
  { reason: Type.Optional(Text(3, 2_000, { description: 'Why the two are different' })) },
  { examples: [{ reason: 'two environments' }] },
);

export const Track = Named('Track', {
  name: TrackName,
  kind: OneOf(['default', 'named', 'release', 'build', 'pull_request', 'development'] as const, {
    description:
      'What the name says: the `default` track, an environment or listed branch (`named`), a `release` line, a `build`, a `pull_request`, or another branch in `development`',
  }),
  default: Type.Boolean({ description: 'Whether scans that name no track belong to it', examples: [true] }),
  counts: Type.Boolean({
    description: 'Whether its findings are listed, counted and due. Not those of pull requests and branches in development',
    examples: [true],
  }),
  ended_at: Nullable({ ...Timestamp, description: 'When the track ended', examples: [null] }),
  ended_by: Nullable(Type.String({ description: 'Who ended the track', examples: [null] })),
  ended_reason: Nullable(Type.String({ description: 'Why the track ended', examples: [null] })),
});
export const TrackList = PageOf('TrackList', Track);

const AssetVersion = Named('AssetVersion', {
  name: Type.String({ description: 'Tag, release or commit of the build', examples: ['1.4.2'] }),
  track: { ...TrackName, description: 'The track that the build belongs to' },
  digest: Nullable(Type.String({ description: 'Digest of the image', examples: [null] })),
  commit: Nullable(Type.String({ description: 'Commit of the repository', examples: [null] })),
  first_scan: { ...Timestamp, description: 'Time of the first scan of the build' },
  last_scan: { ...Timestamp, description: 'Time of the last scan of the build' },
  same_digest: Type.Array(
    Named('SameBuild', {
      asset: Type.Object(
        { id: Id, name: Type.String({ description: 'Name of the asset', examples: ['registry.example.com/shop/api'] }) },
        { description: 'The asset that the build belongs to' },
      ),
      name: Type.String({ description: 'Tag of the build', examples: ['latest'] }),
      track: { ...TrackName, description: 'The track that the build belongs to' },
    }),
    {
      description:
        'Up to 20 other builds of this or another asset that have the same digest, the one that was scanned last first. Each keeps its own findings, because a tag can move',
      examples: [[]],
    },
  ),
});
export const AssetVersionList = PageOf('AssetVersionList', AssetVersion);
export const AssetVersionQuery = Strict(listParameters(['last_scan', 'first_scan'] as const, '-last_scan'));
