import { Type } from 'typebox';
import { criticalities, exposures } from '../assets/values.ts';
import { listParameters, range } from '../http/paging.ts';
import { Id, OneOf, Strict, Text } from '../http/schemas.ts';
import { AssetType, Assurance, Multi, Severity, SourceKind, Status, Tag } from './fields/shapes.ts';
import { FIX_FIRST_RISK } from './list/fix-first.ts';
import { MAX_PARTS, SOME_WORD } from './words.ts';

const Cwe = Type.Unsafe<string | number>({
  type: ['integer', 'string'],
  minimum: 1,
  maximum: 99_999,
  pattern: '^(?:[Cc][Ww][Ee]-)?0*[1-9]\\d{0,4}$',
  description: 'A CWE number, such as 79 or CWE-79',
});

export const filters = {
  severity: Multi(Severity, 'One of these severities'),
  not_severity: Multi(Severity, 'None of these severities'),
  status: Multi(Status, 'One of these statuses'),
  not_status: Multi(Status, 'None of these statuses'),
  connection_id: Type.Optional({ ...Id, description: 'Reported by this connection' }),
  source: Type.Optional(
    Type.Array(Text(1, 100), {
      minItems: 1,
      maxItems: 20,
      description: 'Reported by a source with one of these providers: a report format, the provider of a connection, or `manual`. Ignores case',
      examples: [['trivy']],
    }),
  ),
  not_source: Multi(Text(1, 100), 'Reported by no source with one of these providers', ['sonarqube']),
  source_kind: Multi(SourceKind, 'Reported by a source of one of these kinds: `import` for uploaded reports, `connection`, or `manual` for people'),
  asset_id: Type.Optional({ ...Id, description: 'On this asset' }),
  asset: Type.Optional(
    Text(1, 300, {
      description:
        'On an asset whose name starts with this text, ignoring case, or that is known by this name: an image with its tag, a repository by its clone URL',
    }),
  ),
  asset_type: Multi(AssetType, 'On an asset of one of these types'),
  not_asset_type: Multi(AssetType, 'Not on an asset of one of these types'),
  asset_version: Type.Optional(
    Text(1, 200, { description: 'In this build of the asset: its version, tag, commit or digest. Requires `asset_id`', examples: ['1.4.2'] }),
  ),
  track: Multi(
    Text(1, 200),
    'Seen on one of these branches, environments or release lines. `default` is the default track of an asset until it has a name. Active findings match only while they are still there. So do closed ones that a pull request has brought back. What only pull requests have is listed only with this filter, `asset_version` or `import_id`',
    ['main'],
  ),
  new_since_track: Type.Optional(
    Text(1, 200, {
      description:
        'Not on this branch, environment or release line at present. Together with `track`: what a branch adds to another, which includes closed findings that a pull request has brought back, and no other closed ones',
      examples: ['main'],
    }),
  ),
  owner: Multi(Text(1, 200), 'On an asset of one of these owners, ignoring case', ['payments']),
  criticality: Multi(OneOf(criticalities), 'On an asset of one of these criticalities'),
  exposure: Multi(OneOf(exposures), 'On an asset with one of these exposures'),
  asset_tag: Multi(Text(1, 100), 'On an asset with one of these tags', ['pci']),
  not_asset_tag: Multi(Text(1, 100), 'On an asset with none of these tags', ['sandbox']),
  import_id: Type.Optional({ ...Id, description: 'Created, reopened, updated or closed by this import' }),
  cve: Multi(Text(1, 100), 'With one of these CVE, GHSA or other public ids, or an alias of it that counts', ['CVE-2021-44228']),
  not_cve: Multi(Text(1, 100), 'With none of these CVE, GHSA or other public ids, nor an alias of them that counts', ['CVE-2021-44228']),
  cwe: Multi(Cwe, 'With one of these CWE numbers: `79` or `CWE-79`', [79]),
  component: Type.Optional(
    Text(1, 300, {
      description: 'In this component, ignoring case. The name without its group also matches: `log4j-core` and `org.apache.logging.log4j:log4j-core`',
    }),
  ),
  not_component: Multi(Text(1, 300), 'Not in one of these components', ['lodash']),
  path: Type.Optional(
    Text(1, 1_000, {
      description:
        'In this file or below this folder, ignoring case. The path starts at the root of the repository or image: `src` does not match `frontend/src/a.ts`',
      examples: ['src/auth'],
    }),
  ),
  not_path: Multi(Text(1, 1_000), 'Not in one of these files and not below one of these folders, as for `path`', ['test']),
  rule: Multi(Text(1, 500), 'Found by a check with one of these ids of the tool, ignoring case', ['KSV014']),
  not_rule: Multi(Text(1, 500), 'Not found by a check with one of these ids', ['KSV014']),
  has_fix: Type.Optional(Type.Boolean({ description: 'Whether a source knows a fix' })),
  severity_disputed: Type.Optional(Type.Boolean({ description: 'Whether the sources that still see the finding differ by two steps of severity or more' })),
  work_item_id: Type.Optional({ ...Id, description: 'Linked to this work item' }),
  has_work_item: Type.Optional(Type.Boolean({ description: 'Whether linked to a work item that is not cancelled' })),
  assignee: Multi(
    Text(1, 320),
    'Linked to a work item that is not cancelled and is assigned to one of these, ignoring case: e-mail addresses of members, or other names',
    ['ada@example.com'],
  ),
  kev: Type.Optional(Type.Boolean({ description: 'Whether listed by CISA as known to be exploited' })),
  epss_min: Type.Optional(Type.Number({ minimum: 0, maximum: 1, description: 'EPSS score of at least this value' })),
  risk_min: Type.Optional(Type.Number({ minimum: 0, maximum: 100, description: 'Risk score of at least this value' })),
  overdue: Type.Optional(Type.Boolean({ description: 'Whether active, not suppressed and past the deadline' })),
  fix_first: Type.Optional(
    Type.Boolean({
      description: `Whether open or in progress, and known to be exploited, past the deadline or with a risk score of at least ${FIX_FIRST_RISK}`,
    }),
  ),
  acceptance_requested: Type.Optional(Type.Boolean({ description: 'Whether a request to accept the risk waits for approval' })),
  suppressed: Type.Optional(Type.Boolean({ description: 'Whether all sources that still see the finding suppress it' })),
  assurance: Multi(Assurance, 'With one of these assurances'),
  tag: Multi(Tag, 'With one of these tags'),
  not_tag: Multi(Tag, 'With none of these tags'),
  q: Type.Optional(
    Text(1, 200, {
      pattern: SOME_WORD,
      description: `Words with at least two letters or digits. All must occur in the title, component, source package, version, path, rule, ids, CWEs or asset name of a finding. A word with three characters or more also matches the beginning of a longer word, except for the end of a host name such as \`com\`, but never its middle. Titles, components and asset names are found by each of their words and the parts between \`. _ @ / : -\`. A path is found by its beginning, by the name of the file and by the names of the ${MAX_PARTS} nearest folders; a rule by its id, by its last part and by the ${MAX_PARTS} parts before it, between \`. / :\`. URLs, descriptions and solutions are not searched. An id also finds its aliases that count. A package URL (purl) finds its component and version. Single letters are ignored`,
      examples: ['openssl 1.1.1k'],
    }),
  ),
  ...range('first_seen'),
  ...range('last_seen'),
  ...range('created'),
  ...range('updated'),
  ...range('due'),
};

/** A build belongs to one asset: two assets can both have a version 1.4.2. */
export const filterRules = { dependentRequired: { asset_version: ['asset_id'] } };
export const FilterFields = Strict(filters, filterRules);

const sortKeys = ['risk_score', 'severity', 'first_seen', 'last_seen', 'created_at', 'updated_at', 'due_at'] as const;
export const FindingQuery = Strict({ ...listParameters(sortKeys, '-risk_score'), ...filters }, filterRules);
