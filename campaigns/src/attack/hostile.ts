import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { rawZip } from '../../../verifier/src/testing/raw-zip.ts';
import type { Outcome } from '../figures.ts';
import { upload } from './reports.ts';
import type { Target } from './target.ts';

const MIB = 2 ** 20;

const sarif = (results: object[]): string =>
  JSON.stringify({ version: '2.1.0', $schema: 'https://json.schemastore.org/sarif-2.1.0.json', runs: [{ tool: { driver: { name: 't' } }, results }] });
const location = { physicalLocation: { artifactLocation: { uri: 'a.c' }, region: { startLine: 1 } } };
const gitlab = (finding: object): string =>
  JSON.stringify({
    version: '15.0.0',
    scan: { type: 'dependency_scanning', scanner: { id: 'g', name: 'g' } },
    vulnerabilities: [{ id: '1', name: 'x', ...finding }],
  });
const xml = (head: string, body: string): string =>
  `<?xml version="1.0"?>${head}<NessusClientData_v2><Report name="r"><ReportHost name="${body}"/></Report></NessusClientData_v2>`;

/**
 * Files that are made to exhaust memory or time, to read files or to send requests. `spy` is an address that must never be requested, and `share` a part of
 * the size of the largest.
 */
function hostileFiles(spy: string, share: number): { name: string; bytes: Uint8Array }[] {
  const text = (name: string, content: string) => ({ name, bytes: Buffer.from(content) });
  const laughs = Array.from({ length: 10 }, (_, n) => `<!ENTITY l${n + 1} "${`&l${n};`.repeat(10)}">`).join('');
  const zeros = Buffer.alloc(64 * MIB * share);
  return [
    text(
      'message.sarif',
      sarif(
        Array.from({ length: 12 }, () => ({ ruleId: 'r', message: { text: '{0}'.repeat(170_000), arguments: ['A'.repeat(3_000)] }, locations: [location] })),
      ),
    ),
    text('lines.json', `{}${'\n'.repeat(65_000)}x`),
    text('solution.json', gitlab({ solution: `Upgrade x to ${'1'.repeat(400_000)} x`, location: { file: 'a' } })),
    text('hostname.json', gitlab({ location: { hostname: `http://h${'/'.repeat(400_000)}x` } })),
    text('spaces.json', `${' '.repeat(20 * MIB * share)}{"findings":[]}`),
    text('external.nessus', xml(`<!DOCTYPE r [<!ENTITY e SYSTEM "${spy}/entity">]>`, '&e;')),
    text('file.nessus', xml('<!DOCTYPE r [<!ENTITY e SYSTEM "file:///etc/passwd">]>', '&e;')),
    text('parameter.nessus', xml(`<!DOCTYPE r [<!ENTITY % e SYSTEM "${spy}/parameter"> %e;]>`, 'x')),
    text('dtd.nessus', xml(`<!DOCTYPE r SYSTEM "${spy}/dtd">`, 'x')),
    text('laughs.nessus', xml(`<!DOCTYPE r [<!ENTITY l0 "ha">${laughs}]>`, '&l10;')),
    text('quadratic.nessus', xml(`<!DOCTYPE r [<!ENTITY q "${'q'.repeat(50_000)}">]>`, '&q;'.repeat(20_000))),
    text('attribute.nessus', xml('', 'a'.repeat(30 * MIB * share))),
    text('deep.json', '['.repeat(1_000_000)),
    text('deep-objects.json', '{"a":'.repeat(500_000)),
    text('digits.json', `{"version":${'9'.repeat(1_000_000)}}`),
    text('proto.json', '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}},"runs":[]}'),
    text('null.json', '{"a\0b":1}'),
    text('surrogate.json', '{"title":"\\ud800","severity":"high","asset_name":"\\udfff"}'),
    text('formula.ndjson', `${JSON.stringify({ title: '=cmd|calc', severity: 'high', asset_type: 'host', asset_name: '@SUM(1)' })}\n`),
    text('names.ndjson', `${JSON.stringify({ title: 'x', severity: 'high', asset_type: 'host', asset_name: 'x'.repeat(5 * MIB) })}\n`),
    { name: 'bomb.json.gz', bytes: gzipSync(Buffer.concat(Array.from({ length: 5 }, () => zeros))) },
    { name: 'nested.json.gz', bytes: gzipSync(gzipSync(gzipSync(zeros))) },
    { name: 'garbage.json.gz', bytes: Buffer.concat([Buffer.from([0x1f, 0x8b, 8, 0]), Buffer.alloc(1_000, 0xff)]) },
    { name: 'random.json', bytes: Buffer.from(Uint8Array.from({ length: 100_000 }, (_, n) => (n * 7919) % 256)) },
    { name: '../../../../etc/cron.d/x', bytes: Buffer.from('{}') },
    { name: 'empty.json', bytes: Buffer.alloc(0) },
    { name: 'many.zip', bytes: manyEntries(60_000 * share) },
  ];
}

export function manyEntries(count: number): Uint8Array {
  return rawZip(Array.from({ length: count }, (_, n) => ({ name: `bag/data/${n}`, content: Buffer.from('x') })));
}

export async function hostileReports(target: Target, share: number): Promise<Outcome> {
  let hits = 0;
  const spy = createServer((_, response) => {
    hits++;
    response.end('<!ENTITY e "x">');
  });
  spy.listen(0, '127.0.0.1');
  await once(spy, 'listening');
  try {
    const files = hostileFiles(`http://127.0.0.1:${(spy.address() as AddressInfo).port}`, share);
    const { statuses, violations } = await upload(target, files, 'hostile file');
    const list = await target.api.call('GET', '/api/v1/findings?limit=200', { as: target.api.ours.owner });
    if (JSON.stringify(list.body).includes('root:x:0')) violations.push('a report read a file of the server');
    if (hits > 0) violations.push(`reports sent ${hits} requests`);
    const health = target.healthOf('hostile files');
    return {
      figures: [
        ['hostile files', `${files.length}, ${[...statuses].map(([status, n]) => `${status}: ${n}`).join(', ')}, ${hits} requests to outside`],
        ['hostile files: other callers', health.figure],
      ],
      violations: [...violations, ...health.violations],
    };
  } finally {
    spy.closeAllConnections();
    spy.close();
  }
}
