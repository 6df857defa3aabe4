import { formats, severities, statableKinds } from '@rrs/scan-reports';
import { Type } from 'typebox';
import { listParameters, PageOf } from '../http/paging.ts';
import { Id, Named, Nullable, OneOf, Strict, Text, Timestamp, VisibleName } from '../http/schemas.ts';
import { riskFactors } from '../vulnerabilities/risk.ts';
import { detailSchemas, listedSchemas } from './fields/derive.ts';
import { AssetType, Decision, Location, Multi, Severity, Tag, WorkItemRef } from './fields/shapes.ts';
import { countedChanges } from './import/count-changes.ts';
import { Occurrence, SeenBuild, Sighting, StillOpenReason } from './schemas-details.ts';
import { Transition } from './schemas-triage.ts';

export const FindingParams = Strict({ id: Id });

const ListedFinding = Named('ListedFinding', listedSchemas);
export const FindingList = PageOf('FindingList', ListedFinding);

export const Finding = Named('Finding', {
  ...listedSchemas,
  ...detailSchemas,
  description: Nullable(
    Type.String({ description: 'Description from the source', examples: ['JNDI features used in configuration, log messages and parameters …'] }),
  ),
  solution: Nullable(Type.String({ description: 'How to remediate, from the source', examples: ['Upgrade to 2.17.1'] })),
  references: Type.Array(Type.String(), { description: 'Links to more information', examples: [['https://logging.apache.org/security.html']] }),
  severity_override: Nullable(
    Type.Object(
      {
        severity: { ...Severity, description: 'Severity that the person set' },
        source_severity: { ...Severity, description: 'Severity according to the sources' },
        by: Type.String({ description: 'Who set it' }),
        reason: Type.String({ description: 'Why' }),
      },
      { description: 'Severity that a person set. It survives later scans', examples: [null] },
    ),
  ),
  risk: Named('Risk', {
    score: Type.Number({ description: 'Risk from 0 to 100', examples: [88.5] }),
    model: Type.String({ description: 'Version of the risk model. docs/risk.md explains it', examples: ['rrs-2'] }),
    factors: Type.Array(
      Named('RiskFactor', {
        name: OneOf(riskFactors, { description: 'Factor of the model' }),
        input: Type.String({ description: 'Input of the factor', examples: ['high, CVSS 8.1'] }),
        value: Type.Number({ description: 'The input as a number from 0 to 1', examples: [0.81] }),
        weight: Type.Number({ description: 'Most points that the factor can add', examples: [50] }),
        points: Type.Number({ description: 'Points that the factor adds: value times weight, rounded to one decimal', examples: [40.5] }),
        source: Nullable(Type.String({ description: 'Where the input comes from', examples: ['report, CVSS 3.1 from enrichment'] })),
        date: Nullable(Type.String({ description: 'Date or version of the source, such as the date of an EPSS score', examples: [null] })),
      }),
      { description: 'How the score is computed. The points add up to it' },
    ),
  }),
  sightings: Type.Array(Sighting, { description: 'What each source says about the finding, on each track of the asset' }),
  still_open_because: Type.Array(StillOpenReason, {
    description: 'Why an active finding is not closed: an entry for each source and track that still has it, or whose scan does not prove the fix',
  }),
  versions: Type.Array(SeenBuild, { description: 'The builds of the asset on which sources last saw the finding' }),
  occurrence_count: Type.Integer({ minimum: 0, description: 'How many occurrences there are, by place, source and track' }),
  occurrences: Type.Array(Occurrence, { description: 'The first 100 occurrences. `GET /findings/{id}/occurrences` lists all' }),
  decisions: Type.Array(Decision, { description: 'Acceptances of the risk and false positives, the current ones first. At most 20' }),
  work_items: Type.Array(WorkItemRef, { description: 'All work items that the finding is linked to, the last one first' }),
  transitions: Type.Array(Transition, { description: 'The statuses that people can change the finding to, in a fixed order' }),
});

const Visible = (maxLength: number) =>
  Type.String({ maxLength, pattern: '[\\p{L}\\p{N}\\p{P}\\p{S}]', description: 'Text with at least one visible character' });

export const ScopeAsset = Type.Object(
  { type: AssetType, name: { ...Visible(1_000), format: 'name' } },
  { additionalProperties: false, examples: [{ type: 'repository', name: 'https://git.example.com/shop' }] },
);

const scopeFields = {
  vantage: Type.Optional(
    OneOf(['internal', 'external'] as const, {
      description: 'From where the scan looked at its targets: `internal` from inside the network, `external` from outside. PCI DSS tells them apart',
      examples: ['external'],
    }),
  ),
  coverage: Type.Optional(
    OneOf(['complete', 'partial'] as const, {
      description: '`complete`: findings that the report no longer shows on the assets it covers are closed. `partial`: nothing is closed. Default: `partial`',
    }),
  ),
  version: Type.Optional(
    Text(1, 200, { description: 'The build that was scanned: a tag, release or commit, or the digest of an image, also behind its tag', examples: ['1.4.2'] }),
  ),
  track: Type.Optional(
    Text(1, 200, {
      description: 'The branch, environment or release line that was scanned. Findings of one track are never closed by scans of another',
      examples: ['main'],
    }),
  ),
  ended_tracks: Type.Optional(
    Type.Array(Text(1, 200), {
      maxItems: 100,
      description:
        'Pull requests and branches of the asset that have been merged or closed, as the pipeline names them. Their tracks end, which proves nothing about their findings. Tracks whose findings count do not end: `DELETE /assets/{id}/tracks/{name}` ends those',
      examples: [['refs/pull/17/merge']],
    }),
  ),
  path: Type.Optional(
    Text(1, 1_000, {
      description:
        'The part of a repository that was scanned, such as one lock file. Only findings of scans of the same part are closed. Paths in the report are relative to it, unless they begin with it. `.` says that all of it was scanned',
      examples: ['services/pay'],
    }),
  ),
  looked_for: Type.Optional(
    Type.Array(OneOf(statableKinds), {
      maxItems: statableKinds.length,
      description:
        'Kinds of findings that the tool looked for, if the report does not show it. Trivy does not mention secrets if it finds none, so its last secret is closed only with this statement. `known` says that a report has all findings, although it calls all of them new since a baseline, `suppressed` that it has those that the tool was told to ignore. Evidence packages name it as a statement of the uploader',
      examples: [['secrets']],
    }),
  ),
  assets: Type.Optional(Type.Array(ScopeAsset, { maxItems: 1_000, description: 'Further assets that the scan covered, even if it found nothing there' })),
  name: Type.Optional(VisibleName(1, 200, { description: 'Name of the scan, for example of a pipeline or team. Separates several scans with one tool' })),
  started_at: Type.Optional(
    Type.String({ format: 'date-time', description: 'When the scan began, if the report does not state it. Default: the time of the upload' }),
  ),
};

export const ScanScope = Named('ScanScope', {
  ...scopeFields,
  asset: Type.Optional(
    Type.Union([ScopeAsset, Type.Literal('unspecified')], {
      description:
        'What the report is about. Takes precedence over what a report about one asset calls it. The name of a host means the one that is shown under it. Required if the report does not name its asset. `unspecified`: the report is about something without a name',
      examples: [{ type: 'repository', name: 'https://git.example.com/shop' }],
    }),
  ),
});
/** To check a scope whose asset is an object: a mistake in it is reported where it is. */
export const ScanScopeOfAsset = Strict({ ...scopeFields, asset: Type.Optional(ScopeAsset) });

const FormatId = OneOf(formats.map(({ id }) => id));

export const ImportQuery = Strict({
  format: Type.Optional({ ...FormatId, description: 'Format of the report. Default: detected. Always state it: reports without findings can fit several' }),
  filename: Type.Optional(Text(1, 300, { description: 'Name of the file. If several formats fit, the one it names counts: `gitleaks.json`' })),
  scan_scope: Type.Optional(Text(2, 100_000, { description: 'What the scan covered: a ScanScope object as JSON' })),
  dry_run: Type.Optional(Type.Boolean({ default: false, description: 'Report what would change without changing anything' })),
});

const count = (description: string) => Type.Integer({ minimum: 0, description });
const SeverityCounts = (description: string) =>
  Type.Object(
    Object.fromEntries(severities.map((severity) => [severity, count(`Findings with severity \`${severity}\``)])) as Record<
      (typeof severities)[number],
      ReturnType<typeof count>
    >,
    { description },
  );
export const importStatuses = ['queued', 'running', 'succeeded', 'failed', 'needs_confirmation', 'discarded'] as const;
const stated = (description: string, example: string) => Nullable(Type.String({ description, examples: [example] }));
const ImportPipeline = Nullable(
  Type.Object(
    {
      trust_id: { ...Id, description: 'ID of the trust that the token met' },
      issuer: Type.String({ description: 'Issuer of the token', examples: ['https://token.actions.githubusercontent.com'] }),
      subject: Type.String({ description: 'Subject of the token', examples: ['repo:acme/shop:ref:refs/heads/main'] }),
      repository: stated('Repository or project', 'acme/shop'),
      repository_id: stated('ID of the repository or project', '4711'),
      ref: stated('Branch or tag', 'refs/heads/main'),
      ref_protected: Type.Boolean({ description: 'Whether the issuer says that the ref is protected', examples: [true] }),
      sha: stated('Commit', '3f2c9d1e'),
      environment: stated('Environment of the deployment', 'production'),
      workflow: stated('Definition of the pipeline', 'acme/shop/.github/workflows/scan.yml@refs/heads/main'),
      run_id: stated('ID of the run', '1234567890'),
      issued_at: { ...Timestamp, description: 'When the token was issued' },
      token_sha256: stated("SHA-256 of the token's ID (`jti`)", 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'),
    },
    { description: 'The trusted pipeline that uploaded the report. null for other credentials', examples: [null] },
  ),
);
const ImportScan = Type.Object(
  {
    tool_version: stated('Version of the tool', '0.57.1'),
    started_at: Nullable({ ...Timestamp, description: 'When the scan began' }),
    finished_at: Nullable({ ...Timestamp, description: 'When the scan ended' }),
    knowledge: stated('Version of the vulnerability database or plugins', '202611141200'),
    knowledge_at: Nullable({ ...Timestamp, description: 'Date of the vulnerability database or plugins' }),
    credentialed: Nullable(Type.Boolean({ description: 'Whether the tool could sign in to what it scanned', examples: [true] })),
  },
  { description: 'What the report states about the scan as a whole. null: it does not say, or says it only of single assets' },
);
export const Import = Named('Import', {
  id: Id,
  status: OneOf(importStatuses, {
    description:
      'Status of the import. `needs_confirmation`: it would close unusually many findings, or some that a connection last saw with other settings, and waits for a person',
  }),
  format: Nullable(Type.String({ description: 'Format of the report. `null` until it is detected', examples: ['trivy'] })),
  filename: Nullable(Type.String({ description: 'Name of the report file', examples: ['trivy.json'] })),
  sha256: Type.String({ description: 'SHA-256 of the report file', examples: ['9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'] }),
  bytes: count('Size of the report file in bytes'),
  file_deleted_at: Nullable({ ...Timestamp, description: 'When the stored report file was deleted. `null`: it is stored', examples: [null] }),
  file_deleted_by: Nullable(Type.String({ description: 'Name of the credential that deleted the file, or `retention policy`', examples: [null] })),
  scan_scope: ScanScope,
  scan: ImportScan,
  progress: Type.Object({ bytes_read: count('Bytes read so far'), records_read: count('Records read so far') }, { description: 'How far the import has come' }),
  counts: Named('ImportCounts', {
    received: count('Records in the report'),
    created: count('Findings that were created'),
    updated: count('Findings that changed'),
    unchanged: count('Records that changed nothing'),
    reopened: count('Findings that were reopened'),
    rejected: count('Records that could not be read'),
    closed: count('Findings that were closed because the report no longer shows them'),
  }),
  counts_by_severity: Named(
    'ImportCountsBySeverity',
    Object.fromEntries(countedChanges.map((kind) => [kind, SeverityCounts(`Findings that were ${kind}, by severity`)])) as Record<
      (typeof countedChanges)[number],
      ReturnType<typeof SeverityCounts>
    >,
    { description: 'How many findings of each severity were created, reopened and closed. For a dry run: how many would be' },
  ),
  rejected: Type.Array(
    Type.Object({ place: Type.String({ description: 'Position in the file' }), reason: Type.String({ description: 'Why the record was rejected' }) }),
    {
      description: 'The first 1,000 rejected records',
      examples: [[{ place: 'Results[0].Vulnerabilities[3]', reason: 'PkgName is missing' }]],
    },
  ),
  notes: Type.Array(Type.String(), { description: 'Remarks, for example why nothing was closed', examples: [[]] }),
  error: Nullable(Type.String({ description: 'Why the import failed', examples: [null] })),
  dry_run: Type.Boolean({ description: 'Whether the import only reports what would change', examples: [false] }),
  created_by: Type.String({ description: 'Name of the credential that uploaded the report', examples: ['ci pipeline'] }),
  pipeline: ImportPipeline,
  created_at: { ...Timestamp, description: 'When the report was uploaded' },
  started_at: Nullable({ ...Timestamp, description: 'When the import started' }),
  finished_at: Nullable({ ...Timestamp, description: 'When the import finished' }),
});
const { rejected: _rejected, scan: _scan, ...listedImport } = Import.properties;
/** An import in a list is without what its report states, and without its rejected records: there may be a thousand. `counts.rejected` is their number. */
export const ListedImport = Named('ListedImport', listedImport);
export const ImportList = PageOf('ImportList', ListedImport);
export const ImportListQuery = Strict({
  ...listParameters(['created_at'] as const, '-created_at'),
  status: Multi(Import.properties.status, 'With one of these statuses'),
  format: Multi(FormatId, 'In one of these formats'),
});

const ImportFormat = Named('ImportFormat', {
  id: Type.String({ description: 'Id of the format', examples: ['trivy'] }),
  name: Type.String({ description: 'Name of the tool or format', examples: ['Trivy'] }),
  description: Type.String({ description: 'Which command or export writes such a file', examples: ['`trivy image --format json`'] }),
  documentation: Type.String({ format: 'uri-reference', description: 'Documentation of the format', examples: ['https://trivy.dev/'] }),
});
export const ImportFormats = Named('ImportFormats', { data: Type.Array(ImportFormat, { description: 'All report formats' }) });

const locationFields = ['component', 'version', 'fixed_version', 'purl', 'path', 'protocol', 'url', 'method', 'parameter', 'resource'] as const;
const describedAs = (name: keyof typeof Location.properties) => ({ description: (Location.properties[name] as { description?: string }).description ?? '' });
const LocationInput = Strict({
  ...(Object.fromEntries(locationFields.map((name) => [name, Type.Optional(Text(1, 1_000, describedAs(name)))])) as Record<
    (typeof locationFields)[number],
    ReturnType<typeof Type.Optional<ReturnType<typeof Text>>>
  >),
  line: Type.Optional(Type.Integer({ minimum: 1, ...describedAs('line') })),
  end_line: Type.Optional(Type.Integer({ minimum: 1, ...describedAs('end_line') })),
  port: Type.Optional(Type.Integer({ minimum: 1, maximum: 65_535, ...describedAs('port') })),
});

export const FindingCreate = Named(
  'FindingCreate',
  {
    title: { ...Visible(500), description: 'Short description of the weakness, with at least one visible character' },
    severity: { ...Severity, description: 'Severity of the finding' },
    asset: Type.Optional({ ...ScopeAsset, description: 'The asset by type and name. Created if it does not exist' }),
    asset_id: Type.Optional({ ...Id, description: 'The asset by its id' }),
    description: Type.Optional(Text(1, 16_000, { description: 'Description of the weakness' })),
    solution: Type.Optional(Text(1, 16_000, { description: 'How to remediate' })),
    cves: Type.Optional(
      Type.Array(Type.String({ pattern: '^(?:[Cc][Vv][Ee]-\\d{4}-\\d{4,19})$', description: 'A CVE id like CVE-2021-44228' }), {
        maxItems: 50,
        description: 'CVE ids',
      }),
    ),
    cwes: Type.Optional(Type.Array(Type.Integer({ minimum: 1, maximum: 99_999 }), { minItems: 1, maxItems: 50, description: 'CWE numbers' })),
    cvss: Type.Optional(Strict({ vector: Text(10, 300, { description: 'Complete CVSS 2.0, 3.0, 3.1 or 4.0 vector' }) }, { description: 'CVSS rating' })),
    location: Type.Optional({ ...LocationInput, description: 'Where on the asset the finding is' }),
    references: Type.Optional(Type.Array(Text(1, 2_000), { maxItems: 50, description: 'Links to more information' })),
    tags: Type.Optional(Type.Array(Tag, { maxItems: 50, uniqueItems: true, description: 'Tags' })),
    first_seen: Type.Optional(Type.String({ format: 'date-time', description: 'When the weakness was first seen. Not in the future. Default: now' })),
    work_item_id: Type.Optional({ ...Id, description: 'Work item to link the finding to' }),
  },
  {
    description: 'A finding to create. Set either `asset` or `asset_id`',
    examples: [
      {
        title: 'Admin page without a password',
        severity: 'high',
        asset: { type: 'web_application', name: 'https://shop.example.com' },
        location: { url: 'https://shop.example.com/admin' },
      },
    ],
  },
);
