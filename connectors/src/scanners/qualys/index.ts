import { type Asset, type AssetIdentifier, fromBuffer } from '@rrs/scan-reports';
import { hostAsset } from '@rrs/scan-reports/normalize.ts';
import { date } from '@rrs/scan-reports/read.ts';
import { recordText, type XmlRecord, xmlRecords } from '@rrs/scan-reports/xml-records.ts';
import { type Static, Type } from 'typebox';
import { defineScanner, type HttpRequest, type Json, type ScanOfAsset } from '../../core/contract.ts';
import { readPage } from '../../core/reports.ts';
import { Secret } from '../../core/settings/fields.ts';
import { documentOf, pagesOf } from './api.ts';
import { knowledgeBase } from './knowledge-base.ts';

const OVERLAP_MS = 3_600_000;
const OPEN = 'New,Active,Re-Opened';
const HOSTS_PER_LIST = 1_000;

const Config = Type.Object({
  api_url: Type.String({
    title: 'API URL',
    examples: ['https://qualysapi.qualys.com', 'https://qualysapi.qualys.eu'],
    description:
      'URL of the API server of your platform, such as https://qualysapi.qualys.com or https://qualysapi.qualys.eu. In Qualys under Help, About, Security Operations Center.',
    format: 'uri',
    default: 'https://qualysapi.qualys.com',
  }),
  api_version: Type.Optional(
    Type.String({
      title: 'API version',
      'x-group': 'advanced',
      description: 'Version of the host and detection lists. Use 5.0 unless your platform does not support it yet.',
      pattern: '^\\d+\\.\\d+$',
      default: '5.0',
    }),
  ),
  tags: Type.Optional(
    Type.Array(Type.String({ minLength: 1, pattern: '^[^,]+$' }), {
      title: 'Tags',
      examples: [['Production']],
      description: 'Names of tags. Reads only hosts that have at least one of them.',
      default: [],
    }),
  ),
  severities: Type.Optional(
    Type.Array(Type.Integer({ minimum: 1, maximum: 5 }), {
      title: 'Severities',
      examples: [[4, 5]],
      description:
        'Severities to read, from 1 (minimal) to 5 (urgent). Leave empty for all. With a selection, only findings that Qualys reports as fixed are closed, because a finding can leave the selection without being fixed.',
      default: [],
    }),
  ),
  include_information: Type.Optional(
    Type.Boolean({
      title: 'Information gathered',
      description: 'Also reads informational detections, such as open ports and installed software.',
      default: false,
    }),
  ),
  hosts_per_page: Type.Optional(
    Type.Integer({
      title: 'Hosts per request',
      'x-group': 'advanced',
      description: 'Number of hosts per request. Decrease it if responses are too large. Increase it if Qualys limits the number of requests.',
      minimum: 1,
      maximum: 10_000,
      default: 200,
    }),
  ),
});

type Settings = Static<typeof Config>;

export const qualys = defineScanner({
  id: 'qualys',
  name: 'Qualys VMDR',
  version: 1,
  description: 'Detections on all hosts of a Qualys VM or VMDR subscription, with details from its knowledge base.',
  documentation: 'https://docs.qualys.com/en/vm/api/host_list_detection/index.htm',
  permissions: 'a user with API access, at least the role Reader with all relevant asset groups, and permission to download the vulnerability knowledge base',
  config: Config,
  credentials: Type.Object({
    username: Type.String({
      title: 'User name',
      examples: ['acme3ab'],
      description: 'Name of a Qualys user, preferably a dedicated one for this connection.',
      minLength: 1,
      maxLength: 200,
    }),
    password: Secret('Password', 'Password of the user.', { link: 'https://docs.qualys.com/en/vm/api/users/users/params_users.htm' }),
  }),
  baseUrl: ({ config }) => config.api_url,
  authorize: ({ credentials }) => ({
    authorization: `Basic ${Buffer.from(`${credentials.username}:${credentials.password}`).toString('base64')}`,
    'x-requested-with': 'remediation-risk-service',
    accept: '*/*',
  }),
  /** Qualys reports rate and concurrency limits with 409. For concurrency limits, the header is zero. */
  rateLimited: (status, headers) => (status === 409 ? Number(headers['x-ratelimit-towait-sec']) || 60 : null),
  async check({ http, config }) {
    await documentOf(http, detections(config), { truncation_limit: 1 });
  },
  /** Hosts are read last, so that a host that loses its tag between the two lists is not covered without its findings. */
  async *findings({ http, config, checkpoint, cursor, startedAt }) {
    const wantsAll = cursor === null && (config.severities ?? []).length === 0;
    const at = positionOf(checkpoint);
    const knowledge = knowledgeBase(http);
    if (at.list === 'detections')
      for await (const { text, from, next } of pagesOf(http, detections(config), detectionQuery(config, cursor), at.from)) {
        const { items, scans } = text.trim() === '' ? { items: [], scans: [] } : await readPage('qualys', text, `detections from host ${from}`);
        yield { items: await knowledge.explain(items), scans, checkpoint: next === null ? { list: 'hosts', from: 0 } : { list: 'detections', from: next } };
      }
    if (wantsAll && at.list !== 'end')
      for await (const { text, next } of pagesOf(http, hosts(config), hostQuery(config), at.list === 'hosts' ? at.from : 0))
        yield {
          items: [],
          ...(await scannedHosts(text, hosts(config).root)),
          checkpoint: next === null ? { list: 'end', from: 0 } : { list: 'hosts', from: next },
        };
    return { coverage: wantsAll ? 'complete' : 'changes', cursor: startedAt.toISOString() };
  },
});

function positionOf(checkpoint: Json): { list: 'detections' | 'hosts' | 'end'; from: number } {
  const at = checkpoint as { list: 'detections' | 'hosts' | 'end'; from: number } | null;
  return at ?? { list: 'detections', from: 0 };
}

function detections({ api_version: version = '5.0' }: Settings) {
  return { path: `api/${version}/fo/asset/host/vm/detection/`, root: 'HOST_LIST_VM_DETECTION_OUTPUT' };
}

function hosts({ api_version: version = '5.0' }: Settings) {
  return { path: `api/${version}/fo/asset/host/`, root: 'HOST_LIST_OUTPUT' };
}

type Query = NonNullable<HttpRequest['query']>;

/** Qualys keeps fixed detections for years, many more than open ones. A complete list leaves them out, which closes them as well. */
function detectionQuery(config: Settings, cursor: Json): Query {
  const severities = config.severities ?? [];
  const isPartial = cursor !== null || severities.length > 0;
  return {
    status: isPartial ? `${OPEN},Fixed` : OPEN,
    include_ignored: 1,
    include_disabled: 1,
    show_igs: config.include_information ? 1 : 0,
    show_results: 1,
    truncation_limit: config.hosts_per_page ?? 200,
    ...(severities.length > 0 ? { severities: severities.join(',') } : {}),
    ...(typeof cursor === 'string' ? { detection_updated_since: timeOf(Date.parse(cursor) - OVERLAP_MS) } : {}),
    ...tagQuery(config),
  };
}

function hostQuery(config: Settings): Query {
  return { details: 'All', truncation_limit: HOSTS_PER_LIST, ...tagQuery(config) };
}

function tagQuery({ tags = [] }: Settings): Query {
  return tags.length === 0 ? {} : { use_tags: 1, tag_set_by: 'name', tag_set_include: tags.join(',') };
}

/** ISO 8601 without fractions of a second. */
function timeOf(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');
}

const SCANNED = ['LAST_VM_SCANNED_DATE', 'LAST_VULN_SCAN_DATETIME', 'LAST_VM_AUTH_SCANNED_DATE'];
const NAMES = ['IP', 'IPV6', 'DNS', 'DNS_DATA/FQDN', 'NETBIOS', 'QG_HOSTID', 'CLOUD_RESOURCE_ID', 'EC2_INSTANCE_ID'];

/** Leaves out hosts that were never scanned for vulnerabilities, whose lack of detections means nothing. */
async function scannedHosts(text: string, root: string): Promise<{ covers: Asset[]; scans: ScanOfAsset[] }> {
  const found = { covers: [] as Asset[], scans: [] as ScanOfAsset[] };
  for await (const host of xmlRecords(fromBuffer(text), `${root}/RESPONSE/HOST_LIST/HOST`, [...NAMES, ...SCANNED])) {
    const asset = SCANNED.some((field) => recordText(host, field)) ? assetOf(host) : null;
    if (!asset) continue;
    found.covers.push(asset);
    const [scanned, other, authenticated] = SCANNED.map((field) => date(recordText(host, field)));
    const last = scanned ?? other;
    // The last scan was credentialed if it is also the last one that could log in.
    if (last) found.scans.push({ asset, finished_at: last, ...(authenticated ? { credentialed: authenticated >= last } : {}) });
  }
  return found;
}

/** Named like the host in its detections. */
function assetOf(host: XmlRecord): Asset | null {
  const text = (field: string): string | undefined => recordText(host, field);
  const [ip, ...others] = [text('IP'), text('IPV6')].flatMap((one) => one ?? []);
  const { name, identifiers = [] } = hostAsset({ given: text('DNS_DATA/FQDN') ?? text('DNS'), netbios: text('NETBIOS'), ip });
  if (identifiers.length === 0) return null;
  const additional: AssetIdentifier[] = others.map((value) => ({ kind: 'ip', value: value.toLowerCase() }));
  const [agent, cloud] = [text('QG_HOSTID'), text('CLOUD_RESOURCE_ID') ?? text('EC2_INSTANCE_ID')];
  if (agent) additional.push({ kind: 'agent_id', value: agent });
  if (cloud) additional.push({ kind: 'cloud_id', value: cloud });
  return { type: 'host', name, identifiers: [...identifiers, ...additional] };
}
