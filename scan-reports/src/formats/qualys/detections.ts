import type { Asset, Observation, ReportEntry, ReportInput } from '../../contract.ts';
import { idsIn, observation, RecordError, record, required } from '../../shared/normalize.ts';
import { count, str } from '../../shared/read.ts';
import { runEntry } from '../../shared/run.ts';
import { childText, type XmlElement, xmlElements } from '../../xml/elements.ts';
import { assetOf, dateOf, severityOfLevel, tagsOf } from './common.ts';

const HOST = 'HOST_LIST_VM_DETECTION_OUTPUT/RESPONSE/HOST_LIST/HOST';
const SCAN_TIMES = ['LAST_SCAN_DATETIME', 'LAST_VM_SCANNED_DATE', 'LAST_VM_AUTH_SCANNED_DATE'];
const NAMES = ['IP', 'IPV6', 'DNS', 'DNS_DATA/FQDN', 'NETBIOS', 'QG_HOSTID', 'CLOUD_RESOURCE_ID', 'EC2_INSTANCE_ID', ...SCAN_TIMES];

/** Reads an API response. It has only QIDs. Their titles are in the knowledge base, which is another document. */
export async function* readDetections(input: ReportInput): AsyncGenerator<ReportEntry> {
  let host = new Map<string, string>();
  let hostIndex = 0;
  for await (const { element, pattern, parents, place } of xmlElements(input, [
    ...NAMES.map((name) => `${HOST}/${name}`),
    `${HOST}/DETECTION_LIST/DETECTION`,
  ])) {
    const index = parents[3]?.index ?? 0;
    if (index !== hostIndex) {
      yield* readRun(host);
      host = new Map();
    }
    hostIndex = index;
    if (pattern < NAMES.length) host.set(element.name, element.text);
    else yield* record(place, () => detectionOf(element, place, hostOf(host)));
  }
  yield* readRun(host);
}

/** The last scan was credentialed if it is also the last one that could log in. */
function* readRun(host: ReadonlyMap<string, string>): Generator<ReportEntry> {
  const [any, scanned, authenticated] = SCAN_TIMES.map((name) => dateOf(host.get(name)));
  const last = scanned ?? any;
  yield* runEntry({ asset: namedHost(host), finished_at: last, credentialed: last && authenticated ? authenticated >= last : undefined });
}

function hostOf(names: ReadonlyMap<string, string>): Asset {
  const asset = namedHost(names);
  if (asset === null) throw new RecordError('the host has no IP');
  return asset;
}

function namedHost(names: ReadonlyMap<string, string>): Asset | null {
  return assetOf({
    ips: [names.get('IP'), names.get('IPV6')],
    dns: names.get('FQDN') || names.get('DNS'),
    netbios: names.get('NETBIOS'),
    agent: names.get('QG_HOSTID'),
    cloud: names.get('CLOUD_RESOURCE_ID') || names.get('EC2_INSTANCE_ID'),
  });
}

function detectionOf(element: XmlElement, place: string, asset: Asset): Observation {
  const text = (name: string): string | undefined => str(childText(element, name));
  const qid = required(text('QID'), 'QID');
  const type = text('TYPE');
  const ids = idsIn(text('CVE'), text('CVE_ID'));
  return observation({
    place,
    tool: 'qualys',
    rule: qid,
    external_id: text('UNIQUE_VULN_ID'),
    title: text('TITLE') ?? (ids.length === 0 ? `QID ${qid}` : `QID ${qid}: ${ids.slice(0, 3).join(', ')}`),
    description: text('RESULTS'),
    severity: severityOfLevel(text('SEVERITY'), type),
    tool_severity: text('SEVERITY'),
    vulnerability_ids: ids,
    asset,
    location: { port: count(text('PORT')), protocol: text('PROTOCOL')?.toLowerCase(), resource: text('INSTANCE') },
    present: text('STATUS')?.toLowerCase() !== 'fixed',
    suppressed: text('IS_IGNORED') === '1' || text('IS_DISABLED') === '1',
    first_seen: dateOf(text('FIRST_FOUND_DATETIME')),
    last_seen: dateOf(text('LAST_FOUND_DATETIME')),
    tags: tagsOf(undefined, type),
  });
}
