import { randomOf } from '../random.ts';
import { jsonReport, type LabelledReport, type Labels } from './report.ts';

/** Weaknesses that are seen over the network: of hosts and of web applications. */
interface HostHit {
  host: Host;
  /** Ids of the check in each tool. */
  plugin: number;
  cves: string[];
  port: number;
  name: string;
}

interface Host {
  name: string;
  address: string;
}

interface Alert {
  origin: string;
  plugin: number;
  name: string;
  urls: string[];
}

export interface NetworkHits {
  hosts: HostHit[];
  alerts: Alert[];
}

const hosts: readonly Host[] = [
  { name: 'web1.example.com', address: '192.0.2.10' },
  { name: 'web10.example.com', address: '192.0.2.100' },
  { name: 'db1.example.com', address: '192.0.2.11' },
];
const origins = ['https://app.example.com', 'https://app.example.com:8443', 'https://app2.example.com', 'http://app.example.com'] as const;
const alertNames = ['Strict-Transport-Security Header Not Set', 'Cross Site Scripting (Reflected)', 'SQL Injection'] as const;

export function networkHits(seed: number): NetworkHits {
  const random = randomOf(seed + 30_000);
  return {
    hosts: hosts.flatMap((host) =>
      [22, 443, 8443].flatMap((port) =>
        Array.from({ length: 4 }, (_, n) => ({
          host,
          plugin: 60_000 + port * 10 + n,
          // A check of one vulnerability, of several, and of none.
          cves: [[`CVE-2022-${20_000 + n}`], [`CVE-2022-${21_000 + n}`], ['CVE-2022-22001', 'CVE-2022-22002'], []][n] ?? [],
          port,
          name: `Service check ${n}`,
        })).filter(() => random.chance(0.85)),
      ),
    ),
    alerts: origins.flatMap((origin) =>
      alertNames
        .map((name, n) => ({
          origin,
          name,
          plugin: 10_035 + n,
          urls: ['/', '/search', '/cart?item=1'].slice(0, 1 + random.number(3)).map((path) => origin + path),
        }))
        .filter(() => random.chance(0.85)),
    ),
  };
}

/** One check of one vulnerability is about the vulnerability. Other checks are the tool's own. */
function hostLabel(tool: string, { host, plugin, cves, port }: HostHit): string {
  return `host ${host.name}: ${cves.length === 1 ? cves[0] : `${tool} ${plugin}`} on port ${port}`;
}

export function nessus({ hosts: hits }: NetworkHits, labels: Labels, byName: boolean): LabelledReport {
  const item = (
    hit: HostHit,
  ): string => `<ReportItem port="${hit.port}" svc_name="www" protocol="tcp" severity="3" pluginID="${hit.plugin}" pluginName="${hit.name}" pluginFamily="General">
    ${hit.cves.map((cve) => `<cve>${cve}</cve>`).join('')}<risk_factor>High</risk_factor><description>It is bad.</description><see_also>${labels.url(hostLabel('nessus', hit))}</see_also></ReportItem>`;
  const text = [...Map.groupBy(hits, ({ host }) => host)]
    .map(
      ([host, own]) => `<ReportHost name="${byName ? host.name : host.address}"><HostProperties>
      <tag name="host-ip">${host.address}</tag><tag name="host-fqdn">${host.name}</tag><tag name="HOST_END">Mon Mar  2 07:00:00 2026</tag></HostProperties>
      ${own.map(item).join('')}</ReportHost>`,
    )
    .join('');
  return {
    tool: 'nessus',
    format: 'nessus',
    name: 'scan.nessus',
    scope: {},
    text: `<?xml version="1.0" ?><NessusClientData_v2><Report name="weekly">${text}</Report></NessusClientData_v2>`,
  };
}

export function openvas({ hosts: hits }: NetworkHits, labels: Labels): LabelledReport {
  const result = (hit: HostHit, n: number): string => `<result id="aaaaaaaa-0000-4000-8000-${String(n).padStart(12, '0')}"><name>${hit.name}</name>
    <creation_time>2026-03-02T09:10:11Z</creation_time><host>${hit.host.address}<hostname>${hit.host.name.toUpperCase()}</hostname></host><port>${hit.port}/tcp</port>
    <nvt oid="1.3.6.1.4.1.25623.1.0.${hit.plugin}"><type>nvt</type><name>${hit.name}</name><family>General</family><refs>
    ${hit.cves.map((cve) => `<ref type="cve" id="${cve}"/>`).join('')}<ref type="url" id="${labels.url(hostLabel('openvas', hit))}"/></refs></nvt>
    <threat>High</threat><severity>7.5</severity><description>It is bad.</description></result>`;
  const text = `<report id="11111111-1111-4111-8111-111111111111" format_id="a994b278-1f62-11e1-96ac-406186ea4fc5" extension="xml" content_type="text/xml">
    <report id="11111111-1111-4111-8111-111111111111"><gmp><version>22.7</version></gmp><scan_run_status>Done</scan_run_status><results start="1" max="100">${hits.map(result).join('')}</results></report></report>`;
  return { tool: 'openvas', format: 'openvas', name: 'report.xml', scope: {}, text };
}

const alertLabel = ({ origin, plugin }: Alert): string => `web application ${origin}: zap ${plugin}`;

function byOrigin(alerts: readonly Alert[]): [string, Alert[]][] {
  return [...Map.groupBy(alerts, ({ origin }) => origin)];
}

export function zapJson({ alerts }: NetworkHits, labels: Labels): LabelledReport {
  const site = byOrigin(alerts).map(([origin, own]) => ({
    '@name': origin,
    '@host': new URL(origin).hostname,
    '@port': new URL(origin).port || (origin.startsWith('https:') ? '443' : '80'),
    '@ssl': String(origin.startsWith('https:')),
    alerts: own.map((alert) => ({
      pluginid: String(alert.plugin),
      alertRef: String(alert.plugin),
      alert: alert.name,
      name: alert.name,
      riskcode: '2',
      confidence: '3',
      riskdesc: 'Medium (High)',
      desc: '<p>It is bad.</p>',
      instances: alert.urls.map((uri) => ({ uri, method: 'GET', param: '' })),
      count: String(alert.urls.length),
      reference: `<p>${labels.url(alertLabel(alert))}</p>`,
      cweid: '79',
    })),
  }));
  return jsonReport('zap', 'zap', { '@programName': 'ZAP', '@version': '2.16.1', '@generated': 'Mon, 2 Mar 2026 10:00:00', site });
}

export function zapXml({ alerts }: NetworkHits, labels: Labels): LabelledReport {
  const alertItem = (
    alert: Alert,
  ): string => `<alertitem><pluginid>${alert.plugin}</pluginid><alertRef>${alert.plugin}</alertRef><alert>${alert.name}</alert><name>${alert.name}</name>
    <riskcode>2</riskcode><confidence>3</confidence><riskdesc>Medium (High)</riskdesc><desc>It is bad.</desc>
    <instances>${alert.urls.map((url) => `<instance><uri>${url}</uri><method>GET</method><param></param></instance>`).join('')}</instances>
    <reference>&lt;p&gt;${labels.url(alertLabel(alert))}&lt;/p&gt;</reference><cweid>79</cweid></alertitem>`;
  const sites = byOrigin(alerts).map(([origin, own]) => {
    const { hostname, port, protocol } = new URL(origin);
    const ssl = protocol === 'https:';
    return `<site name="${origin}" host="${hostname}" port="${port || (ssl ? 443 : 80)}" ssl="${ssl}"><alerts>${own.map(alertItem).join('')}</alerts></site>`;
  });
  const text = `<?xml version="1.0"?><OWASPZAPReport programName="ZAP" version="2.16.1" generated="Mon, 2 Mar 2026 10:00:00">${sites.join('')}</OWASPZAPReport>`;
  return { tool: 'zap', format: 'zap', name: 'zap.xml', scope: {}, text };
}
