import { Type } from 'typebox';
import { listParameters, PageOf } from '../http/paging.ts';
import { Id, Named, Nullable, OneOf, Strict, Timestamp } from '../http/schemas.ts';
import { type Gap, gaps } from './absence/absence.ts';
import { stillOpenCodes } from './details/still-open.ts';
import { listedSchemas } from './fields/derive.ts';
import { Location, Severity, Source } from './fields/shapes.ts';
import { STALE_DAYS } from './stale.ts';

const gapCodes = Object.keys(gaps) as readonly Gap[];
const State = OneOf(['present', 'absent', 'unknown'] as const, {
  description: 'Whether the source still sees it. `unknown`: the source was retired or the track has ended, so nothing more will be said',
});
const Track = Type.String({ description: 'The branch, environment or release line of the asset. `default` until it has a name', examples: ['main'] });
const Code = OneOf(stillOpenCodes, { description: 'The reason, for programs' });
const Sentence = Type.String({ description: 'The reason, in words', examples: ['The last scan of the source reports the finding.'] });

const { title, vulnerability_ids, cwes, cvss, epss, exploit_maturity, fix_state, fix_published_date } = listedSchemas;
const { component, version, fixed_version, path } = Location.properties;

export const Sighting = Named('Sighting', {
  source: Source,
  track: Track,
  state: State,
  absence: Nullable(
    OneOf(['gone', 'retracted', 'declared', 'check_retired', 'asset_gone', 'track_ended'] as const, {
      description:
        'Why the source no longer sees the finding. `gone`: a scan that would have seen it did not. `retracted`: it disappeared although what was scanned has not changed. `declared`: the source states that it is fixed. `check_retired`: the tool no longer has the check. `asset_gone`, `track_ended`: two complete runs of the source no longer list the asset, or its branch or environment. null while it is present',
      examples: [null],
    }),
  ),
  absent_at: Nullable({ ...Timestamp, description: 'Time of the scan that no longer showed the finding' }),
  gaps: Type.Array(
    Type.Object({
      code: OneOf(gapCodes, { description: 'The gap, for programs' }),
      sentence: Type.String({ description: 'The gap, in words', examples: [gaps.credentials_unstated] }),
    }),
    {
      description:
        'What weakens the proof that the finding is gone: what the scan that no longer showed it does not state, or that the source was retired while it saw the finding. Empty while the finding is present',
      examples: [[]],
    },
  ),
  missed: Nullable(
    Type.Object(
      {
        at: { ...Timestamp, description: 'Time of the scan' },
        import_id: Nullable({ ...Id, description: 'The import of the scan' }),
        because: Type.Array(Type.Object({ code: Code, sentence: Sentence }), { description: 'Why this does not prove that the finding is gone' }),
      },
      {
        description: 'The last complete scan that did not report the finding although this proves nothing. null if a scan has reported it since',
        examples: [null],
      },
    ),
  ),
  external_id: Nullable(Type.String({ description: "The source's own id of the finding", examples: [null] })),
  severity: { ...Severity, description: 'Severity according to this source' },
  tool_severity: Nullable(Type.String({ description: "Severity in the source's own words", examples: ['CRITICAL'] })),
  suppressed: Type.Boolean({ description: 'Whether the source suppresses the finding', examples: [false] }),
  reported: Type.Object(
    {
      title,
      severity: { ...Severity, description: 'Severity' },
      severity_source: Nullable(Type.String({ description: 'Who rated the severity, if it is not the tool itself', examples: ['debian'] })),
      vulnerability_ids,
      cwes,
      cvss,
      epss,
      exploit_maturity,
      fix_state,
      fix_published_date: { ...fix_published_date, description: 'Day on which a fix was published' },
      component,
      version,
      fixed_version,
      path,
    },
    { description: 'What this source says. The finding itself combines what all sources say that still see it' },
  ),
  first_seen: { ...Timestamp, description: 'When the source first saw the finding' },
  last_seen: { ...Timestamp, description: 'When the source last saw the finding' },
  last_import_id: Nullable({ ...Id, description: 'The last import that updated this entry or, if the finding is gone, the one that no longer showed it' }),
});

export const StillOpenReason = Named('StillOpenReason', {
  source: Source,
  track: Track,
  code: Code,
  sentence: Sentence,
  stale: Type.Boolean({
    description: `Whether the source has not scanned the branch or environment for ${STALE_DAYS} days. It may have been switched off. Nothing is closed because of it`,
    examples: [false],
  }),
  import_id: Nullable({ ...Id, description: 'The import that the reason is about' }),
  at: { ...Timestamp, description: 'Time of the scan that the reason is about' },
});

export const SeenBuild = Named('SeenBuild', {
  track: Track,
  name: Type.String({ description: 'Tag, release or commit of the build', examples: ['1.4.2'] }),
  digest: Nullable(Type.String({ description: 'Digest of the image', examples: [null] })),
  commit: Nullable(Type.String({ description: 'Commit of the repository', examples: [null] })),
});

export const Occurrence = Named('Occurrence', {
  id: { ...Id, description: 'ID of the occurrence' },
  place: Type.String({ description: 'Where the finding is: a path, URL, resource, port or package', examples: ['app/lib/log4j-core-2.14.1.jar'] }),
  location: Location,
  source: Source,
  track: Track,
  state: State,
  first_seen: { ...Timestamp, description: 'When the source first saw the finding there' },
  last_seen: { ...Timestamp, description: 'When the source last saw the finding there' },
});
export const OccurrenceList = PageOf('OccurrenceList', Occurrence);
export const OccurrenceQuery = Strict(listParameters(['place', 'first_seen'] as const, 'place'));
