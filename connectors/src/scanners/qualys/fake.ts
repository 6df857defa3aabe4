import type { FakeResponse, FakeVendor } from '../../testing/fake-server.ts';

const USER = { username: 'acme_api', password: 'qualys-password-0123456789' };
const FIRST_HOST = 117_000_000;
/** The last host was never scanned. The one before it has no detections. */
const HOSTS = 15;
const SCANNED = HOSTS - 1;

interface Detection {
  host: number;
  qid: number;
  severity: number;
  status: string;
  type: string;
  updated: string;
  xml: string;
}

const STATUSES = ['New', 'Active', 'Re-Opened'];

function detection(host: number, n: number): Detection {
  const number = 2 * host + n;
  const status = n === 2 ? 'Fixed' : (STATUSES[number % 3] ?? 'New');
  const severity = 1 + (number % 5);
  const type = number % 6 === 0 ? 'Potential' : number % 11 === 0 ? 'Info' : 'Confirmed';
  const updated = host < 10 ? '2026-10-20T08:00:00Z' : '2026-11-15T07:30:00Z';
  const qid = 90_000 + (number % 8);
  const xml = `<DETECTION><UNIQUE_VULN_ID>${8_000_000 + 3 * host + n}</UNIQUE_VULN_ID><QID>${qid}</QID><TYPE>${type}</TYPE><SEVERITY>${severity}</SEVERITY>
    <PORT>${8000 + number}</PORT><PROTOCOL>tcp</PROTOCOL><SSL>0</SSL><RESULTS><![CDATA[Package	Installed Version
lib${number}	1.0]]></RESULTS><STATUS>${status}</STATUS><FIRST_FOUND_DATETIME>2026-09-01T08:00:00Z</FIRST_FOUND_DATETIME>
    <LAST_FOUND_DATETIME>2026-10-20T08:00:00Z</LAST_FOUND_DATETIME><LAST_UPDATE_DATETIME>${updated}</LAST_UPDATE_DATETIME>
    <IS_IGNORED>${number === 5 ? 1 : 0}</IS_IGNORED><IS_DISABLED>0</IS_DISABLED></DETECTION>`;
  return { host, qid, severity, status, type, updated, xml };
}

const names = (
  host: number,
): string => `<ID>${FIRST_HOST + host}</ID><IP>192.0.2.${10 + host}</IP><TRACKING_METHOD>AGENT</TRACKING_METHOD><NETWORK_ID>0</NETWORK_ID>
  <OS><![CDATA[Ubuntu Linux 24.04]]></OS><DNS><![CDATA[srv${host}.example.com]]></DNS><DNS_DATA><HOSTNAME>srv${host}</HOSTNAME><DOMAIN>example.com</DOMAIN><FQDN>srv${host}.example.com</FQDN></DNS_DATA>
  <NETBIOS/><QG_HOSTID>19260abb-0000-4000-8000-${String(host).padStart(12, '0')}</QG_HOSTID>`;

const knowledge = (qid: string): string => `<VULN><QID>${qid}</QID><VULN_TYPE>Vulnerability</VULN_TYPE><SEVERITY_LEVEL>3</SEVERITY_LEVEL>
  <TITLE><![CDATA[Weakness ${qid}]]></TITLE><CATEGORY>Local</CATEGORY><PATCHABLE>1</PATCHABLE>
  <VENDOR_REFERENCE_LIST><VENDOR_REFERENCE><ID><![CDATA[ADV-1]]></ID><URL><![CDATA[https://acme.example/ADV-1]]></URL></VENDOR_REFERENCE></VENDOR_REFERENCE_LIST>
  <CVE_LIST><CVE><ID><![CDATA[CVE-2025-${Number(qid) - 86_000}]]></ID><URL><![CDATA[https://cve.example/]]></URL></CVE></CVE_LIST>
  <DIAGNOSIS><![CDATA[It is weak.<P>Very.]]></DIAGNOSIS><CONSEQUENCE><![CDATA[Data leak.]]></CONSEQUENCE><SOLUTION><![CDATA[<P>Upgrade.]]></SOLUTION>
  <CVSS><BASE source="service">5.0</BASE><VECTOR_STRING>CVSS:2.0/AV:N/AC:L/Au:N/C:P/I:N/A:N/E:U/RL:OF/RC:C</VECTOR_STRING></CVSS>
  <CVSS_V3><BASE>7.5</BASE><VECTOR_STRING>CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:N/A:N</VECTOR_STRING><CVSS3_VERSION>3.1</CVSS3_VERSION></CVSS_V3></VULN>`;

function document(root: string, content: string): string {
  return `<?xml version="1.0" encoding="UTF-8" ?>
<!DOCTYPE ${root} SYSTEM "https://qualysapi.example.com/${root.toLowerCase()}.dtd">
<${root}><RESPONSE><DATETIME>2026-11-15T08:00:00Z</DATETIME>${content}</RESPONSE></${root}>
<!-- CONFIDENTIAL AND PROPRIETARY INFORMATION. -->`;
}

function refusal(status: number, code: number, text: string): FakeResponse {
  return { status, headers: { 'content-type': 'text/xml' }, body: document('SIMPLE_RETURN', `<CODE>${code}</CODE><TEXT>${text}</TEXT>`) };
}

const LIMITS = {
  'content-type': 'text/xml',
  'x-ratelimit-limit': '300',
  'x-ratelimit-window-sec': '3600',
  'x-ratelimit-remaining': '299',
  'x-ratelimit-towait-sec': '0',
};

export const qualysFake: FakeVendor = {
  id: 'qualys',
  settings: (origin) => ({ config: { api_url: origin }, credentials: USER }),
  refused: (origin) => ({ config: { api_url: origin }, credentials: { ...USER, password: 'expired-password-0123' } }),
  answer({ pageSize, endless, badRecord }) {
    /** One page of hosts and the start of the next one. */
    const page = (root: string, url: URL, hosts: readonly { id: number; xml: string }[]): FakeResponse => {
      const { searchParams } = url;
      const size = Math.min(pageSize, Number(searchParams.get('truncation_limit') ?? 1000) || pageSize);
      const from = Number(searchParams.get('id_min') ?? 0);
      const rest = hosts.filter(({ id }) => id >= from);
      const next = new URL(url);
      next.searchParams.set('id_min', String(rest[size]?.id ?? from + FIRST_HOST));
      const isCut = endless || rest.length > size;
      const warning = isCut
        ? `<WARNING><CODE>1980</CODE><TEXT>${size} record limit exceeded. Use URL to get next batch of results.</TEXT><URL><![CDATA[${next}]]></URL></WARNING>`
        : '';
      const list = rest.slice(0, size).map(({ xml }) => `<HOST>${xml}</HOST>`);
      return { page: true, headers: LIMITS, body: document(root, `${list.length > 0 ? `<HOST_LIST>${list.join('\n')}</HOST_LIST>` : ''}${warning}`) };
    };

    const detections = (url: URL): FakeResponse => {
      const { searchParams } = url;
      const statuses = (searchParams.get('status') ?? 'New,Active,Re-Opened').split(',');
      const severities = (searchParams.get('severities') ?? '1,2,3,4,5').split(',').map(Number);
      const since = searchParams.get('detection_updated_since') ?? '';
      const wanted = ({ status, severity, type, updated }: Detection): boolean =>
        statuses.includes(status) && severities.includes(severity) && updated >= since && (type !== 'Info' || searchParams.get('show_igs') === '1');
      const hosts = Array.from({ length: SCANNED - 1 }, (_, host) => {
        const found = [0, 1, 2]
          .map((n) => detection(host, n))
          .filter(wanted)
          .map(({ xml }) => xml);
        if (badRecord && host === 3) found.splice(1, 0, '<DETECTION><TYPE>Confirmed</TYPE></DETECTION>');
        return { id: FIRST_HOST + host, found, xml: `${names(host)}<DETECTION_LIST>${found.join('\n')}</DETECTION_LIST>` };
      });
      return page(
        'HOST_LIST_VM_DETECTION_OUTPUT',
        url,
        hosts.filter(({ found }) => found.length > 0),
      );
    };

    const hosts = (url: URL): FakeResponse => {
      const scanned = (host: number): string =>
        host < SCANNED
          ? '<LAST_VM_SCANNED_DATE>2026-11-14T08:00:00Z</LAST_VM_SCANNED_DATE><LAST_VM_AUTH_SCANNED_DATE>2026-11-14T08:00:00Z</LAST_VM_AUTH_SCANNED_DATE>'
          : '';
      const all = Array.from({ length: HOSTS }, (_, host) => ({ id: FIRST_HOST + host, xml: `${names(host)}${scanned(host)}` }));
      return page('HOST_LIST_OUTPUT', url, all);
    };

    return ({ url, headers }) => {
      if (!headers['x-requested-with']) return refusal(400, 1901, 'Missing required header: X-Requested-With');
      const encoded = Buffer.from(`${USER.username}:${USER.password}`).toString('base64');
      if (headers.authorization !== `Basic ${encoded}`) return refusal(401, 2000, 'Bad Login/Password');
      if (url.searchParams.get('action') !== 'list') return refusal(400, 1903, 'Missing required parameter: action');
      if (url.pathname === '/api/5.0/fo/asset/host/vm/detection/') return detections(url);
      if (url.pathname === '/api/5.0/fo/asset/host/') return hosts(url);
      if (url.pathname !== '/api/4.0/fo/knowledge_base/vuln/') return refusal(404, 999, 'Not Found');
      const ids = (url.searchParams.get('ids') ?? '').split(',');
      return { headers: LIMITS, body: document('KNOWLEDGE_BASE_VULN_LIST_OUTPUT', `<VULN_LIST>${ids.map(knowledge).join('\n')}</VULN_LIST>`) };
    };
  },
};
