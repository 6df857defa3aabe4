import { assetTypes, formats, severities } from '@rrs/scan-reports';
import { Type } from 'typebox';
import { listParameters, PageOf, range } from '../http/paging.ts';
import { Id, Named, Nullable, OneOf, Strict, Text, Timestamp } from '../http/schemas.ts';
import { assurances, justifications, LONGEST_ACCEPTANCE_DAYS, statuses } from './status.ts';
import { SOME_WORD } from './words.ts';

export const Severity = OneOf(severities, { description: 'From the source, unless a person overrode it' });
const Status = OneOf(statuses);
const AssetType = OneOf(assetTypes);
const Assurance = OneOf(assurances, { description: 'How far a closure is proven' });
const Justification = OneOf(justifications, { description: 'VEX vocabulary' });
export const Tag = Text(1, 100, { examples: ['payments'] });

export const FindingParams = Strict({ id: Id });

const AssetRef = Named('AssetRef', {
  id: Id,
  type: AssetType,
  name: Type.String({ examples: ['registry.example.com/shop:1.4'] }),
  criticality: OneOf(['low', 'medium', 'high', 'critical'] as const),
  exposure: OneOf(['internet', 'internal', 'unknown'] as const),
});

const optionalText = (example: string) => Nullable(Type.String({ examples: [example] }));

const Location = Named('Location', {
  component: optionalText('log4j-core'),
  version: optionalText('2.14.1'),
  fixed_version: optionalText('2.17.1'),
  purl: optionalText('pkg:maven/org.apache.logging.log4j/log4j-core@2.14.1'),
  path: optionalText('app/lib/log4j-core-2.14.1.jar'),
  line: Nullable(Type.Integer({ examples: [null] })),
  end_line: Nullable(Type.Integer({ examples: [null] })),
  port: Nullable(Type.Integer({ examples: [null] })),
  protocol: Nullable(Type.String({ examples: [null] })),
  url: Nullable(Type.String({ examples: [null] })),
  method: Nullable(Type.String({ examples: [null] })),
  parameter: Nullable(Type.String({ examples: [null] })),
  resource: Nullable(Type.String({ examples: [null] })),
});

const Cvss = Nullable(
  Type.Object(
    { version: Type.String({ examples: ['3.1'] }), vector: Type.String(), score: Type.Number() },
    {
      examples: [{ version: '3.1', vector: 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:C/C:H/I:H/A:H', score: 10 }],
    },
  ),
);

const Source = Named('Source', {
  id: Id,
  kind: OneOf(['manual', 'import', 'connection'] as const),
  provider: Type.String({ description: 'Report format or integration; `manual` for people', examples: ['trivy'] }),
  tool: Type.String({ description: 'The tool that wrote the report, for formats that many tools write (SARIF, CycloneDX …); else empty', examples: [''] }),
  name: Type.String({ description: 'Tells several scans with one tool apart', examples: [''] }),
  connection_id: Nullable({ ...Id, description: 'The connection that brought it', examples: [null] }),
});

const listed = {
  id: Id,
  title: Type.String({ examples: ['Apache Log4j2 JNDI features do not protect against attacker controlled LDAP'] }),
  status: Status,
  assurance: Nullable(Assurance),
  severity: Severity,
  severity_overridden: Type.Boolean({ examples: [false] }),
  cves: Type.Array(Type.String(), { examples: [['CVE-2021-44228']] }),
  vulnerability_ids: Type.Array(Type.String(), { description: 'CVE and other public ids', examples: [['CVE-2021-44228', 'GHSA-jfh8-c2jp-5v3q']] }),
  cwes: Type.Array(Type.Integer(), { examples: [[502]] }),
  cvss: Cvss,
  epss: Nullable(
    Type.Object(
      { score: Type.Number(), percentile: Nullable(Type.Number()), date: Nullable(Type.String()) },
      { examples: [{ score: 0.94, percentile: 0.999, date: '2026-11-14' }] },
    ),
  ),
  kev: Type.Object({ listed: Type.Boolean(), due_date: Nullable(Type.String()) }, { examples: [{ listed: true, due_date: '2021-12-24' }] }),
  risk_score: Type.Number({ minimum: 0, maximum: 100, examples: [88.5] }),
  asset: AssetRef,
  location: Location,
  sources: Type.Array(Source),
  first_seen: Timestamp,
  last_seen: { ...Timestamp, description: 'Refreshed once a day while scans go on seeing it' },
  due_at: Nullable(Timestamp),
  overdue: Type.Boolean({ examples: [false] }),
  suppressed: Type.Boolean({ description: 'Every source that still sees it wants it ignored', examples: [false] }),
  reopen_count: Type.Integer({ minimum: 0 }),
  tags: Type.Array(Type.String(), { examples: [['payments']] }),
  version: Type.Integer({ minimum: 1 }),
  created_at: Timestamp,
  updated_at: Timestamp,
};

export const ListedFinding = Named('ListedFinding', listed);
export const FindingList = PageOf('FindingList', ListedFinding);

const Sighting = Named('Sighting', {
  source: Source,
  state: OneOf(['present', 'absent', 'unknown'] as const),
  external_id: Nullable(Type.String({ examples: [null] })),
  severity: Severity,
  tool_severity: Nullable(Type.String({ examples: ['CRITICAL'] })),
  suppressed: Type.Boolean({ description: 'The source wants it ignored', examples: [false] }),
  first_seen: Timestamp,
  last_seen: Timestamp,
  last_import_id: Nullable(Id),
});

const WorkItemRef = Named('WorkItemRef', {
  id: Id,
  title: Type.String({ examples: ['Upgrade log4j in the shop'] }),
  status: Type.String({ examples: ['in_progress'] }),
  linked_at: Timestamp,
});

export const Finding = Named('Finding', {
  ...listed,
  description: Nullable(Type.String({ examples: ['JNDI features used in configuration, log messages and parameters …'] })),
  solution: Nullable(Type.String({ examples: ['Upgrade to 2.17.1'] })),
  references: Type.Array(Type.String(), { examples: [['https://logging.apache.org/security.html']] }),
  weakness: Type.String({ description: 'What it is, as far as its identity goes', examples: ['CVE-2021-44228'] }),
  status_reason: Nullable(Type.String({ examples: [null] })),
  status_changed_at: Timestamp,
  acceptance: Nullable(Type.Object({ owner: Type.String(), expires_at: Timestamp }, { examples: [null] })),
  justification: Nullable(Justification),
  severity_override: Nullable(Type.Object({ severity: Severity, source_severity: Severity, by: Type.String(), reason: Type.String() }, { examples: [null] })),
  risk: Named('Risk', {
    score: Type.Number({ examples: [88.5] }),
    model: Type.String({ examples: ['rrs-1'] }),
    factors: Type.Array(
      Named('RiskFactor', {
        name: OneOf(['base', 'exploitation_likelihood', 'known_exploited', 'asset_criticality', 'asset_exposure'] as const),
        input: Type.String({ examples: ['severity 5 of 5 and CVSS 10'] }),
        points: Type.Number({ examples: [48.8] }),
        max: Type.Number({ examples: [50] }),
      }),
    ),
  }),
  sightings: Type.Array(Sighting),
  work_items: Type.Array(WorkItemRef),
});

const Multi = <T extends Parameters<typeof Type.Array>[0]>(item: T) => Type.Optional(Type.Array(item, { minItems: 1, maxItems: 50 }));

export const filters = {
  severity: Multi(Severity),
  status: Multi(Status),
  connection_id: Type.Optional({ ...Id, description: 'Seen by this connection' }),
  source: Type.Optional(Type.Array(Text(1, 100), { minItems: 1, maxItems: 20, description: 'Report format, provider, or `manual`', examples: [['trivy']] })),
  asset_id: Type.Optional(Id),
  asset: Type.Optional(Text(1, 300, { description: 'Beginning of the name of the asset' })),
  asset_type: Multi(AssetType),
  cve: Type.Optional(Type.Array(Text(1, 100), { minItems: 1, maxItems: 50, description: 'CVE, GHSA or another public id' })),
  cwe: Type.Optional(Type.Array(Type.Integer({ minimum: 1, maximum: 99_999 }), { minItems: 1, maxItems: 50 })),
  component: Type.Optional(Text(1, 300)),
  work_item_id: Type.Optional({ ...Id, description: 'On this work item' }),
  has_work_item: Type.Optional(Type.Boolean({ description: 'On a work item that was not cancelled' })),
  kev: Type.Optional(Type.Boolean({ description: 'Listed as known exploited' })),
  epss_min: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
  risk_min: Type.Optional(Type.Number({ minimum: 0, maximum: 100 })),
  overdue: Type.Optional(Type.Boolean()),
  suppressed: Type.Optional(Type.Boolean({ description: 'Every source that still sees it wants it ignored' })),
  assurance: Multi(Assurance),
  tag: Multi(Tag),
  q: Type.Optional(
    Text(1, 200, {
      pattern: SOME_WORD,
      description: 'Words of two letters or digits at least, in title, component, vulnerability ids and name of the asset; all must occur',
    }),
  ),
  ...range('first_seen'),
  ...range('last_seen'),
  ...range('created'),
  ...range('updated'),
  ...range('due'),
};

const sortKeys = ['risk_score', 'severity', 'first_seen', 'last_seen', 'created_at', 'updated_at', 'due_at'] as const;
export const FindingQuery = Strict({ ...listParameters(sortKeys, '-risk_score'), ...filters });

export const FindingPatch = Named(
  'FindingPatch',
  {
    status: Type.Optional(Status),
    severity: Type.Optional(Nullable(Severity)),
    reason: Type.Optional(Text(3, 2_000, { description: 'Why; required for most changes' })),
    owner: Type.Optional(
      Text(1, 200, { description: 'With `risk_accepted`: who answers for the risk; where four eyes are asked for, the e-mail or name of another member' }),
    ),
    expires_at: Type.Optional(
      Type.String({ format: 'date-time', description: `With \`risk_accepted\`: until when, at most ${LONGEST_ACCEPTANCE_DAYS} days (two years) ahead` }),
    ),
    justification: Type.Optional(Justification),
    tags: Type.Optional(Type.Array(Tag, { maxItems: 50, uniqueItems: true })),
  },
  { minProperties: 1, examples: [{ status: 'remediated', reason: 'upgraded to 2.17.1 in release 1.5' }] },
);

export const HistoryEntry = Named('FindingHistoryEntry', {
  id: Id,
  occurred_at: Timestamp,
  actor: Type.Object(
    { type: Type.String(), id: Nullable(Type.String()), name: Type.String() },
    { examples: [{ type: 'member', id: null, name: 'Ada Lovelace' }] },
  ),
  import_id: Nullable(Id),
  action: Type.String({ examples: ['status_changed'] }),
  before: Type.Object({}, { additionalProperties: true, examples: [{ status: 'open' }] }),
  after: Type.Object({}, { additionalProperties: true, examples: [{ status: 'remediated' }] }),
  reason: Nullable(Type.String({ examples: ['upgraded'] })),
});
export const HistoryList = PageOf('FindingHistoryList', HistoryEntry);
export const HistoryQuery = Strict(listParameters(['occurred_at'] as const, '-occurred_at'));

/** Text that is not only white space and what has no shape. */
const Visible = (maxLength: number) => Type.String({ maxLength, pattern: '[\\p{L}\\p{N}\\p{P}\\p{S}]', description: 'With a visible character' });

const ScopeAsset = Type.Object(
  { type: AssetType, name: Visible(1_000) },
  { additionalProperties: false, examples: [{ type: 'repository', name: 'https://git.example.com/shop' }] },
);

export const ScanScope = Named('ScanScope', {
  coverage: Type.Optional(
    OneOf(['complete', 'partial'] as const, {
      description: '`complete`: what the report no longer shows on the assets it covers is gone. Default `partial`: nothing is closed',
    }),
  ),
  asset: Type.Optional(ScopeAsset),
  assets: Type.Optional(Type.Array(ScopeAsset, { maxItems: 1_000 })),
  name: Type.Optional(Text(1, 200, { description: 'Tells several scans with one tool apart: a pipeline, a team' })),
  started_at: Type.Optional(Type.String({ format: 'date-time', description: 'When the scan began; without it the time of the upload counts' })),
});

const FormatId = OneOf(formats.map(({ id }) => id));

export const ImportQuery = Strict({
  format: Type.Optional({ ...FormatId, description: 'Found out from the content if absent' }),
  filename: Type.Optional(Text(1, 300)),
  scan_scope: Type.Optional(Text(2, 100_000, { description: 'A ScanScope as JSON' })),
  dry_run: Type.Optional(Type.Boolean({ default: false, description: 'Only say what would change' })),
});

const count = Type.Integer({ minimum: 0 });
export const Import = Named('Import', {
  id: Id,
  status: OneOf(['queued', 'running', 'succeeded', 'failed', 'needs_confirmation', 'discarded'] as const),
  format: Nullable(Type.String({ examples: ['trivy'] })),
  filename: Nullable(Type.String({ examples: ['trivy.json'] })),
  sha256: Type.String({ examples: ['9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'] }),
  bytes: count,
  scan_scope: ScanScope,
  progress: Type.Object({ bytes_read: count, records_read: count }),
  counts: Named('ImportCounts', { received: count, created: count, updated: count, unchanged: count, reopened: count, rejected: count, closed: count }),
  rejected: Type.Array(Type.Object({ place: Type.String(), reason: Type.String() }), {
    description: 'The first 1,000',
    examples: [[{ place: 'Results[0].Vulnerabilities[3]', reason: 'PkgName is missing' }]],
  }),
  notes: Type.Array(Type.String(), { examples: [[]] }),
  error: Nullable(Type.String({ examples: [null] })),
  dry_run: Type.Boolean({ examples: [false] }),
  created_by: Type.String({ examples: ['ci pipeline'] }),
  created_at: Timestamp,
  started_at: Nullable(Timestamp),
  finished_at: Nullable(Timestamp),
});
export const ImportList = PageOf('ImportList', Import);
export const ImportListQuery = Strict({
  ...listParameters(['created_at'] as const, '-created_at'),
  status: Multi(Import.properties.status),
  format: Multi(FormatId),
});

const ImportFormat = Named('ImportFormat', {
  id: Type.String({ examples: ['trivy'] }),
  name: Type.String({ examples: ['Trivy'] }),
  description: Type.String({ examples: ['`trivy image --format json`'] }),
  documentation: Type.String({ format: 'uri-reference', examples: ['https://trivy.dev/'] }),
});
export const ImportFormats = Named('ImportFormats', { data: Type.Array(ImportFormat) });

const locationFields = ['component', 'version', 'fixed_version', 'purl', 'path', 'protocol', 'url', 'method', 'parameter', 'resource'] as const;
const LocationInput = Strict({
  ...(Object.fromEntries(locationFields.map((name) => [name, Type.Optional(Text(1, 1_000))])) as Record<
    (typeof locationFields)[number],
    ReturnType<typeof Type.Optional<ReturnType<typeof Text>>>
  >),
  line: Type.Optional(Type.Integer({ minimum: 1 })),
  end_line: Type.Optional(Type.Integer({ minimum: 1 })),
  port: Type.Optional(Type.Integer({ minimum: 1, maximum: 65_535 })),
});

export const FindingCreate = Named(
  'FindingCreate',
  {
    title: Visible(500),
    severity: Severity,
    asset: Type.Optional(ScopeAsset),
    asset_id: Type.Optional(Id),
    description: Type.Optional(Text(1, 16_000)),
    solution: Type.Optional(Text(1, 16_000)),
    cves: Type.Optional(
      Type.Array(Type.String({ pattern: '^(?:[Cc][Vv][Ee]-\\d{4}-\\d{4,19})$', description: 'A CVE id like CVE-2021-44228' }), { maxItems: 50 }),
    ),
    cwes: Type.Optional(Type.Array(Type.Integer({ minimum: 1, maximum: 99_999 }), { minItems: 1, maxItems: 50 })),
    cvss: Type.Optional(Strict({ vector: Text(10, 300) })),
    location: Type.Optional(LocationInput),
    references: Type.Optional(Type.Array(Text(1, 2_000), { maxItems: 50 })),
    tags: Type.Optional(Type.Array(Tag, { maxItems: 50, uniqueItems: true })),
    first_seen: Type.Optional(Type.String({ format: 'date-time', description: 'Not in the future' })),
    work_item_id: Type.Optional({ ...Id, description: 'The work item to put it on' }),
  },
  {
    description: 'Either `asset` or `asset_id` says what it is about',
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
