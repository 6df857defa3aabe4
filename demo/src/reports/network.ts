import { type Host, isPresent, type Website } from '../company/world.ts';

const FACTORS = ['None', 'Low', 'Medium', 'High', 'Critical'] as const;
const SCORES = [0, 3.1, 5.3, 7.5, 9.8] as const;
const xml = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** The file that Nessus exports after the weekly scan of all servers. */
export function nessusReport({ hosts, week, at }: { hosts: readonly Host[]; week: number; at: Date }): string {
  const feed = at.toISOString().replace(/[-T:]/g, '').slice(0, 12);
  const information = `Nessus version : 10.10.0\nPlugin feed version : ${feed}\nPort range : 1-65535\nCredentialed checks : yes`;
  const item = (attributes: string, content: string): string => `<ReportItem ${attributes}>${content}</ReportItem>`;
  const host = ({ name, address, checks }: Host): string => {
    const end = Math.floor(at.getTime() / 1000);
    const tags = { HOST_START_TIMESTAMP: end - 900, HOST_END_TIMESTAMP: end, 'host-fqdn': name, 'host-ip': address, 'operating-system': 'Linux' };
    const found = checks
      .filter((check) => isPresent(check, week))
      .map(({ check: { id, name: title, product, severity, port, cve } }) =>
        item(
          `port="${port}" svc_name="general" protocol="tcp" severity="${severity}" pluginID="${id}" pluginName="${xml(title)}" pluginFamily="General"`,
          `<cve>${cve}</cve><cvss3_base_score>${SCORES[severity]}</cvss3_base_score><risk_factor>${FACTORS[severity]}</risk_factor>` +
            `<description>The installed version of ${product} is affected by known vulnerabilities.</description><solution>Update ${product}.</solution>`,
        ),
      );
    const about = item(
      'port="0" svc_name="general" protocol="tcp" severity="0" pluginID="19506" pluginName="Nessus Scan Information" pluginFamily="Settings"',
      `<risk_factor>None</risk_factor><plugin_output>${information}</plugin_output>`,
    );
    const properties = Object.entries(tags).map(([tag, value]) => `<tag name="${tag}">${value}</tag>`);
    return `<ReportHost name="${address}"><HostProperties>${properties.join('')}</HostProperties>\n${[about, ...found].join('\n')}\n</ReportHost>`;
  };
  return `<?xml version="1.0" ?>\n<NessusClientData_v2><Report name="Weekly scan of all servers">\n${hosts.map(host).join('\n')}\n</Report></NessusClientData_v2>\n`;
}

const RISKS = ['Informational', 'Low', 'Medium', 'High'] as const;

/** The JSON report of ZAP's full scan. */
export function zapReport({ website: { url, alerts }, week, at }: { website: Website; week: number; at: Date }): string {
  const present = alerts.filter((alert) => isPresent(alert, week));
  return JSON.stringify({
    '@programName': 'ZAP',
    '@version': '2.16.1',
    '@generated': at.toUTCString().replace(' GMT', ''),
    created: at.toISOString(),
    site: [
      {
        '@name': url,
        '@host': new URL(url).hostname,
        '@port': '443',
        '@ssl': 'true',
        alerts: [...new Set(present.map(({ alert }) => alert))].map((alert) => ({
          pluginid: String(alert.id),
          alertRef: String(alert.id),
          alert: alert.name,
          name: alert.name,
          riskcode: String(alert.risk),
          confidence: '2',
          riskdesc: `${RISKS[alert.risk]} (Medium)`,
          desc: `<p>${alert.name}.</p>`,
          instances: present.filter((one) => one.alert === alert).map(({ page }) => ({ uri: `${url}${page}`, method: 'GET', param: '', evidence: '' })),
          solution: '<p>Configure the web server or change the page.</p>',
          cweid: String(alert.cwe),
        })),
      },
    ],
  });
}
