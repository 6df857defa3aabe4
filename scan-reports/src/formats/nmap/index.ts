import type { About, Asset, AssetIdentifier, Observation, ReportEntry, ReportFormat, ReportInput, ReportItem } from '../../contract.ts';
import { headOf } from '../../detect.ts';
import { startAbout } from '../../shared/about.ts';
import { notThisFormat } from '../../shared/input.ts';
import { hostAsset, isIp, observation, RecordError, record } from '../../shared/normalize.ts';
import { count, date, str } from '../../shared/read.ts';
import { runEntry } from '../../shared/run.ts';
import { child, type XmlElement, xmlElements } from '../../xml/elements.ts';
import { restrictionsIn } from './options.ts';
import { collectPorts } from './ports.ts';
import { type Scripts, scriptItems } from './scripts.ts';

const EXPECTS = 'XML with the root element nmaprun';

/** One finding per weakness that a script reports (vulners, the vulns library), and one informational finding per open port. */
export const nmap: ReportFormat = {
  id: 'nmap',
  name: 'Nmap',
  description: 'Output of `nmap -oX`: open ports and the findings of the `vulners` and `vuln` scripts',
  documentation: 'https://nmap.org/book/nmap-dtd.html',
  expects: EXPECTS,
  assetType: 'host',
  states: ['time', 'targets'],
  listsAssets: () => true,
  detect: (head) => head.xmlRoot?.name === 'nmaprun',
  about: aboutRun,
  async *read(input) {
    if ((await headOf(input)).xmlRoot?.name !== 'nmaprun') throw notThisFormat(EXPECTS);
    yield* readHosts(input);
  },
};

/** A host that timed out was scanned only in part. */
async function aboutRun(input: ReportInput): Promise<About> {
  const { failed, about } = startAbout();
  if (!nmap.detect(await headOf(input))) return about();
  let ended = false;
  for await (const { element, pattern, parents } of xmlElements(input, ['nmaprun/runstats/finished', 'nmaprun/host/address'])) {
    if (pattern === 0) ended = element.attributes.exit !== 'error';
    else if (parents[1]?.attributes.timedout === 'true') failed();
  }
  if (!ended) failed();
  return about();
}

async function* readHosts(input: ReportInput): AsyncGenerator<ReportEntry> {
  const ports = collectPorts();
  for await (const { element, pattern, parents, place } of xmlElements(input, ['nmaprun/host', 'nmaprun/@', 'nmaprun/runstats/finished', 'nmaprun/scaninfo'])) {
    if (pattern === 1) {
      const { version, start, args } = element.attributes;
      yield* runEntry({ tool_version: version, started_at: date(start), restrictions: restrictionsIn(args) });
    }
    if (pattern === 2) yield* runEntry({ finished_at: date(element.attributes.time) });
    if (pattern === 3) ports.scanned(element.attributes);
    if (pattern > 0) continue;
    ports.host(element);
    const run = parents[0]?.attributes ?? {};
    const { starttime, endtime } = element.attributes;
    const asset = assetOf(element);
    // Without a list of ports, even an empty one, nmap only looked whether the host is there (-sn).
    const unfinished = child(element, 'ports') === undefined ? true : undefined;
    if ((child(element, 'status')?.attributes.state ?? 'up') === 'up')
      yield* runEntry({ asset, started_at: date(starttime), finished_at: date(endtime), unfinished });
    const common = {
      tool: str(run.scanner)?.toLowerCase() ?? 'nmap',
      asset,
      last_seen: date(endtime) ?? date(starttime) ?? date(run.start),
    };
    yield* portItems(element, place, common);
    const hostScripts = child(element, 'hostscript');
    if (hostScripts) yield* scriptItems(hostScripts, `${place}/hostscript[1]`, { ...common, location: {}, service: undefined });
  }
  yield* runEntry({ ports: ports.list() });
}

type Common = Pick<Observation, 'tool' | 'last_seen'> & { asset: Asset | null };

function* portItems(host: XmlElement, place: string, common: Common): Generator<ReportItem> {
  const ports = child(host, 'ports')?.children.filter(({ name }) => name === 'port') ?? [];
  for (const [index, port] of ports.entries()) {
    // "open|filtered" means that nmap could not determine the state.
    if (child(port, 'state')?.attributes.state !== 'open') continue;
    const portPlace = `${place}/ports[1]/port[${index + 1}]`;
    yield* record(portPlace, () => openPort(port, portPlace, common));
    const scripts: Scripts = { ...common, location: portLocation(port), service: child(port, 'service')?.attributes };
    if (scripts.location.port !== undefined) yield* scriptItems(port, portPlace, scripts);
  }
}

function portLocation(port: XmlElement): { port: number | undefined; protocol: string | undefined } {
  return { port: count(port.attributes.portid), protocol: str(port.attributes.protocol)?.toLowerCase() };
}

function openPort(element: XmlElement, place: string, common: Common): Observation {
  const location = portLocation(element);
  if (location.port === undefined) throw new RecordError('portid is not a port number');
  if (common.asset === null) throw new RecordError('the host has no address');
  const { name, product, version, extrainfo, tunnel } = child(element, 'service')?.attributes ?? {};
  const software = [product, version, extrainfo ? `(${extrainfo})` : undefined].filter(Boolean).join(' ');
  return observation({
    ...common,
    place,
    rule: 'open-port',
    title: `Open port: ${location.port}/${location.protocol ?? 'tcp'}`,
    description: [[tunnel, name].filter(Boolean).join('/'), software].filter(Boolean).join(': '),
    severity: 'info',
    location,
    tags: ['open-port', ...(name ? [name] : [])],
  });
}

/** Prefers the name that the user scanned over reverse DNS names. */
function assetOf(host: XmlElement): Asset | null {
  const addresses = host.children.filter(({ name }) => name === 'address').map(({ attributes }) => attributes);
  const names = (child(host, 'hostnames')?.children ?? []).flatMap(({ attributes }) => (str(attributes.name) ? [attributes] : []));
  const preferred = names.find(({ type }) => type === 'user') ?? names[0];
  const mac = addresses.find(({ addrtype }) => addrtype === 'mac')?.addr;
  const ips = addresses.flatMap(({ addr, addrtype }) => (addrtype !== 'mac' && addr ? [addr] : []));
  if (ips.length === 0 && preferred === undefined && mac === undefined) return null;
  // If the user scanned an address, it is not a name.
  const given = preferred?.name && !isIp(preferred.name) ? preferred.name : undefined;
  const asset = hostAsset({ given, ip: ips[0], mac });
  const known = new Set((asset.identifiers ?? []).map(({ value }) => value));
  const further: AssetIdentifier[] = [
    ...names.flatMap(({ name = '' }) =>
      isIp(name) ? [] : [{ kind: name.includes('.') ? ('fqdn' as const) : ('hostname' as const), value: name.toLowerCase() }],
    ),
    ...ips.map((value) => ({ kind: 'ip' as const, value: value.toLowerCase() })),
  ].filter(({ value }) => !known.has(value));
  return { ...asset, identifiers: [...(asset.identifiers ?? []), ...further] };
}
