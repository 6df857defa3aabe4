import { cve, records, type Scan, type Tool, type Trial, timeOf } from './scan.ts';

/** Tools that look at hosts and web applications over the network. */

const hostsOf = ({ asset }: Trial, { asset: other, hosts = ['web1', 'web2'] }: Scan): string[] => hosts.map((host) => `${host}.${other ?? asset}.example.com`);
/** Every trial has its own network. */
const addressOf = ({ n }: Trial, { address }: Scan, at: number): string => address ?? `10.${n >> 8}.${n & 255}.${10 + at}`;
const plugin = ({ n }: Trial, k: number): number => 100_000 + n * 40 + k;

export const nessus: Tool = {
  format: 'nessus',
  kind: 'host',
  hasTime: true,
  hasAsset: true,
  idOf: cve,
  write: (trial, scan) => {
    const time = timeOf(scan).toUTCString();
    const credentials = scan.credentialed ?? true;
    const item = (n: number) =>
      `<ReportItem port="0" svc_name="general" protocol="tcp" severity="3" pluginID="${plugin(trial, n)}" pluginName="Check ${n}" pluginFamily="Debian Local Security Checks"><risk_factor>High</risk_factor><cve>${cve(trial, n)}</cve></ReportItem>`;
    const host = (
      name: string,
    ) => `<ReportHost name="${name}"><HostProperties><tag name="host-fqdn">${name}</tag>${scan.address ? `<tag name="host-ip">${scan.address}</tag>` : ''}<tag name="HOST_START">${time}</tag>
      ${scan.failed ? '' : `<tag name="HOST_END">${time}</tag>`}<tag name="Credentialed_Scan">${credentials}</tag></HostProperties>
      <ReportItem port="0" svc_name="general" protocol="tcp" severity="0" pluginID="19506" pluginName="Nessus Scan Information" pluginFamily="Settings"><plugin_output>Credentialed checks : ${credentials ? 'yes' : 'no'}</plugin_output></ReportItem>
      ${records(scan, item).join('')}${scan.damaged ? '<ReportItem port="0" protocol="tcp" severity="3"/>' : ''}</ReportHost>`;
    const plugins = [19_506, ...(scan.enabled ?? []).map((n) => plugin(trial, n))].join(';');
    const policy = `<Policy><Preferences><ServerPreferences><preference><name>plugin_set</name><value>${plugins}</value></preference></ServerPreferences></Preferences></Policy>`;
    return `<?xml version="1.0" ?><NessusClientData_v2>${scan.enabled ? policy : ''}<Report name="weekly">${hostsOf(trial, scan).map(host).join('')}</Report></NessusClientData_v2>`;
  },
};

export const openvas: Tool = {
  format: 'openvas',
  kind: 'host',
  hasTime: true,
  hasAsset: true,
  idOf: cve,
  write: (trial, scan) => {
    const time = timeOf(scan).toISOString();
    const result = (host: string, at: number) => (n: number) =>
      `<result id="${trial.n}-${n}-${at}"><name>Check ${n}</name><host>${addressOf(trial, scan, at)}<hostname>${host}</hostname></host><port>443/tcp</port>
      <nvt oid="1.3.6.1.4.1.25623.1.0.${plugin(trial, n)}"><name>Check ${n}</name><refs><ref type="cve" id="${cve(trial, n)}"/></refs></nvt><threat>High</threat><severity>7.5</severity></result>`;
    const hosts = hostsOf(trial, scan);
    const login = scan.credentialed === undefined ? '' : `<detail><name>Auth-SSH-${scan.credentialed ? 'Success' : 'Failure'}</name><value>x</value></detail>`;
    return `<report id="1" format_id="a994b278" extension="xml" content_type="text/xml"><report id="1"><gmp><version>22.7</version></gmp>
      <scan_run_status>${scan.failed ? 'Stopped' : 'Done'}</scan_run_status><scan_start>${time}</scan_start>
      ${hosts.map((host, at) => `<host><ip>${addressOf(trial, scan, at)}</ip><start>${time}</start><end>${time}</end><detail><name>hostname</name><value>${host}</value></detail>${login}</host>`).join('')}
      <results start="1" max="1000">${hosts.flatMap((host, at) => records(scan, result(host, at))).join('')}${scan.damaged ? '<result id="x"><host></host></result>' : ''}</results>
      <scan_end>${time}</scan_end></report></report>`;
  },
};

export const zap: Tool = {
  format: 'zap',
  kind: 'web',
  hasTime: true,
  hasAsset: true,
  idOf: (trial, n) => String(plugin(trial, n)),
  write: (trial, scan) => {
    const origin = `https://${scan.asset ?? trial.asset}.example.com`;
    return JSON.stringify({
      '@programName': 'ZAP',
      '@version': '2.16.1',
      created: timeOf(scan).toISOString(),
      site: [
        {
          '@name': origin,
          '@host': new URL(origin).host,
          '@port': '443',
          '@ssl': 'true',
          alerts: [
            ...records(scan, (n) => ({
              pluginid: String(plugin(trial, n)),
              alertRef: String(plugin(trial, n)),
              alert: `Alert ${n}`,
              name: `Alert ${n}`,
              riskcode: '3',
              confidence: '2',
              desc: 'Bad',
              instances: [{ uri: `${origin}${scan.path?.(n) ?? `/page${n}`}`, method: 'GET', param: 'q' }],
            })),
            ...(scan.damaged ? [{ riskcode: '1' }] : []),
          ],
        },
      ],
    });
  },
};
