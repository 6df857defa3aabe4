import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

const PAGE = 10;

export interface Vendor {
  origin: string;
  /** Paths with query strings, in the order of the requests. */
  requests: string[];
  /** Sets the number of issues, and of records in the report. */
  setSize(size: { issues: number; records: number }): void;
  /** Requests of this customer for a second page of issues, or for the second half of the report, get no response. */
  stall(customer: string | null): void;
  /** What a request is waiting for. */
  stalled: Set<string>;
  close(): void;
}

/** Serves issues in pages, like Snyk, and a report file. The path names the customer. */
export async function startVendor(): Promise<Vendor> {
  const stalled = new Set<string>();
  const requests: string[] = [];
  let size = { issues: 0, records: 0 };
  let stalledCustomer: string | null = null;

  const issues = (url: URL, customer: string, response: ServerResponse): void => {
    const from = Number(url.searchParams.get('starting_after') ?? 0);
    if (from > 0 && customer === stalledCustomer) return void stalled.add('issues');
    const data = Array.from({ length: Math.min(PAGE, size.issues - from) }, (_, n) => issue(from + n));
    const next = from + PAGE < size.issues ? { next: `/orgs/${customer}/issues?starting_after=${from + PAGE}` } : {};
    response.setHeader('content-type', 'application/vnd.api+json').end(JSON.stringify({ data, links: next }));
  };
  const report = (customer: string, response: ServerResponse): void => {
    const text = Array.from({ length: size.records }, (_, n) => `${JSON.stringify(record(n))}\n`).join('');
    response.writeHead(200, { 'content-length': text.length, etag: `"${size.records}"` });
    if (customer !== stalledCustomer) return void response.end(text);
    response.write(text.slice(0, text.length / 2));
    stalled.add('report');
  };
  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    const url = new URL(request.url ?? '', 'http://vendor');
    requests.push(`${url.pathname}${url.search}`);
    const [, what = '', customer = '', which = ''] = /^\/(orgs|reports)\/([a-z]+)(?:\/([a-z]+))?$/.exec(url.pathname) ?? [];
    if (what === 'reports') report(customer, response);
    else if (which === 'issues') issues(url, customer, response);
    else response.end(JSON.stringify({ data: [{ id: 'project', attributes: { name: 'acme/shop', status: 'active' } }], links: {} }));
  };

  const server = createServer(answer);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    stalled,
    setSize: (newSize) => {
      size = newSize;
    },
    stall: (customer) => {
      stalledCustomer = customer;
      stalled.clear();
    },
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

function issue(n: number) {
  return {
    id: `issue-${n}`,
    type: 'issue',
    attributes: {
      key: `SNYK-JS-LIBRARY-${n}`,
      title: `Issue ${n}`,
      type: 'package_vulnerability',
      status: 'open',
      ignored: false,
      effective_severity_level: ['critical', 'high', 'medium', 'low'][n % 4],
      created_at: '2026-10-01T08:00:00Z',
      updated_at: '2026-11-01T08:00:00Z',
      problems: [{ id: `CVE-2025-${1000 + n}`, source: 'NVD', type: 'vulnerability' }],
      coordinates: [{ state: 'open', representations: [{ dependency: { package_name: `library-${n}`, package_version: '1.0.0' } }] }],
    },
    relationships: { scan_item: { data: { id: 'project', type: 'project' } } },
  };
}

function record(n: number) {
  return { title: `Record ${n}`, severity: 'high', asset_type: 'host', asset_name: `host-${n % 50}.example`, rule: `rule-${n}` };
}
