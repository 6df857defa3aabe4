import type { Json } from '../../core/contract.ts';
import type { FakeResponse, FakeVendor } from '../../testing/fake-server.ts';

const KEYS = { access_key: 'tenable-access-0123456789', secret_key: 'tenable-secret-0123456789' };
const severities = ['info', 'low', 'medium', 'high', 'critical'];
const uuid = (kind: number, n: number): string => `${kind}0000000-0000-4000-8000-${String(n).padStart(12, '0')}`;
const FINDINGS = 25;
const HOSTS = 4;

interface Vulnerability {
  readonly [field: string]: Json;
  state: string;
  severity: string;
  last_found: string;
}

function vulnerability(n: number): Vulnerability {
  const isFixed = n % 7 === 0;
  const severity = n % 5;
  const host = n % (HOSTS - 1);
  return {
    finding_id: uuid(2, n),
    asset: {
      uuid: uuid(1, host),
      hostname: `web0${host}`,
      fqdn: `web0${host}.example.com`,
      ipv4: `192.0.2.${10 + host}`,
      mac_address: `00:00:5e:00:53:0${host}`,
      operating_system: ['Ubuntu 24.04'],
      network_id: '00000000-0000-0000-0000-000000000000',
      tracked: true,
    },
    output: `Installed version : 1.${n}`,
    plugin: {
      id: 150_000 + n,
      name: `Weakness ${n}`,
      family: 'Web Servers',
      type: 'remote',
      synopsis: 'The remote service is affected.',
      description: `Description of weakness ${n}.`,
      solution: n % 5 === 0 ? 'n/a' : 'Upgrade.',
      risk_factor: 'HIGH',
      cve: [`CVE-2025-${2000 + n}`],
      cpe: n % 2 === 0 ? ['cpe:/a:acme:server:1.0'] : [],
      xrefs: [{ type: 'CWE', id: '79' }],
      see_also: ['https://acme.example/advisory'],
      patch_publication_date: n % 2 === 0 ? '2025-09-08T00:00:00Z' : 'null',
      cvss3_base_score: 7.5,
      cvss3_vector: { raw: 'AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:N/A:N' },
    },
    port: { port: n % 3 === 0 ? '443' : 8080, protocol: 'TCP', service: 'www' },
    severity: severities[severity] ?? 'info',
    severity_id: severity,
    severity_default_id: severity,
    severity_modification_type: n === 3 ? 'ACCEPTED' : 'NONE',
    first_found: '2026-10-01T08:00:00.000Z',
    last_found: n < 20 ? '2026-10-20T08:00:00.000Z' : '2026-11-14T20:00:00.000Z',
    ...(isFixed ? { last_fixed: '2026-11-14T21:00:00.000Z' } : {}),
    state: isFixed ? 'FIXED' : n === 4 ? 'REOPENED' : 'OPEN',
    source: 'NESSUS',
  };
}

const asset = (n: number): Json => ({
  id: uuid(1, n),
  has_plugin_results: true,
  deleted_at: null,
  terminated_at: null,
  hostnames: [`web0${n}`],
  fqdns: [`web0${n}.example.com`],
  ipv4s: [`192.0.2.${10 + n}`],
  ipv6s: [],
  mac_addresses: [`00:00:5e:00:53:0${n}`],
  netbios_names: [],
  last_scan_time: '2026-11-14T20:00:00.000Z',
  last_authenticated_scan_date: n === 1 ? '2026-10-01T20:00:00.000Z' : '2026-11-14T20:00:00.000Z',
  aws_ec2_instance_id: n === 3 ? 'i-0123456789abcdef0' : null,
});

interface Filters {
  since?: number;
  state?: string[];
  severity?: string[];
}

function matches(found: Vulnerability, { since = 0, state = ['OPEN', 'REOPENED'], severity = severities }: Filters): boolean {
  const changed = Date.parse(found.state === 'FIXED' ? String(found.last_fixed) : found.last_found) / 1000;
  return changed >= since && state.includes(found.state) && severity.includes(found.severity);
}

interface Job {
  kind: string;
  requested: string;
  records: Json[];
  /** The number of status requests. */
  polls: number;
  created: number;
}

export const tenableFake: FakeVendor = {
  id: 'tenable',
  settings: (origin) => ({ config: { api_url: origin }, credentials: KEYS }),
  refused: (origin) => ({ config: { api_url: origin }, credentials: { ...KEYS, secret_key: 'revoked-secret-0123456789' } }),
  answer({ pageSize, endless, badRecord }) {
    const jobs = new Map<string, Job>();
    const chunks = ({ records }: Job): number => Math.ceil(records.length / pageSize);
    const isFinished = ({ polls }: Job): boolean => !endless && polls > 2;

    const start = (kind: string, body: string): FakeResponse => {
      const { filters = {} } = JSON.parse(body) as { filters?: Filters };
      const running = [...jobs].find(([, job]) => job.kind === kind && job.requested === JSON.stringify(filters) && !isFinished(job));
      const failure_reason = 'The request could not be completed due to a conflict with the ongoing export';
      if (running) return { status: 409, body: { active_job_id: running[0], failure_reason } };
      const found: Json[] = Array.from({ length: FINDINGS }, (_, n) => vulnerability(n)).filter((one) => matches(one, filters));
      if (badRecord) found.splice(5, 0, { finding_id: 'x', plugin: {} });
      const records = kind === 'vulns' ? found : Array.from({ length: HOSTS }, (_, n) => asset(n));
      const id = uuid(3, jobs.size);
      jobs.set(id, { kind, requested: JSON.stringify(filters), records, polls: 0, created: Date.now() });
      return { body: { export_uuid: id } };
    };

    const status = (id: string, job: Job): FakeResponse => {
      job.polls++;
      const all = Array.from({ length: endless ? job.polls : chunks(job) }, (_, n) => n + 1);
      // Until the export is finished, chunks appear in any order.
      const ready = isFinished(job) || endless ? all : job.polls === 1 ? [] : all.slice(Math.floor(all.length / 2)).reverse();
      return {
        body: {
          uuid: id,
          status: isFinished(job) ? 'FINISHED' : job.polls === 1 ? 'QUEUED' : 'PROCESSING',
          chunks_available: ready,
          chunks_failed: [],
          chunks_cancelled: [],
          total_chunks: all.length,
          chunks_available_count: ready.length,
          empty_chunks_count: 0,
          finished_chunks: ready.length,
          created: job.created,
        },
      };
    };

    return ({ method, url, headers, body }) => {
      const failed = (statusCode: number, error: string, message: string) => ({ status: statusCode, body: { statusCode, error, message } });
      if (headers['x-apikeys'] !== `accessKey=${KEYS.access_key};secretKey=${KEYS.secret_key}`) return failed(401, 'Unauthorized', 'Invalid credentials.');
      const [, kind = '', word, id = '', part, number] = url.pathname.split('/');
      if (word !== 'export' || (kind !== 'vulns' && kind !== 'assets')) return failed(404, 'Not Found', 'Not Found');
      if (method === 'POST' && id === '') return start(kind, body);
      if (id === 'status') return { body: { exports: [...jobs.keys()].map((one) => ({ uuid: one })) } };
      const job = jobs.get(id);
      if (job?.kind !== kind) return failed(404, 'Not Found', `Export ${id} not found`);
      if (part === 'status') return status(id, job);
      const from = ((Number(number) - 1) % Math.max(chunks(job), 1)) * pageSize;
      const content = job.records.slice(from, from + pageSize);
      return { page: true, headers: { 'content-type': 'application/octet-stream' }, body: content };
    };
  },
};
