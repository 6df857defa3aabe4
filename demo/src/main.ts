import { spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { company, PASSWORD, people } from './company/names.ts';
import { fullSize, worldOf } from './company/world.ts';
import { startVendors } from './history/connections.ts';
import { fill } from './history/fill.ts';

const USAGE = `npm run demo [-- options]

Starts the service on a throw-away data folder with the history of an invented company.

  --port N     port to listen on; 0: any free port (default: 8080)
  --weeks N    weeks of history, at least 2 (default: 8)
  --share N    share of the company's assets, from 0 to 1 (default: 1)
`;

const { values } = parseArgs({
  options: { port: { type: 'string', default: '8080' }, weeks: { type: 'string' }, share: { type: 'string' }, help: { type: 'boolean', default: false } },
});
const size = { weeks: Number(values.weeks ?? fullSize.weeks), share: Number(values.share ?? fullSize.share) };
if (values.help || !Number.isInteger(size.weeks) || size.weeks < 2 || !(size.share > 0 && size.share <= 1)) {
  process.stdout.write(USAGE);
  process.exit(values.help ? 0 : 2);
}

const started = performance.now();
const seconds = (): string => `${((performance.now() - started) / 1000).toFixed(0)} s`;
const folder = mkdtempSync(join(tmpdir(), 'rrs-demo-'));
// When running as root, the embedded PostgreSQL runs as another user, who must be able to enter the folder.
chmodSync(folder, 0o711);
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
// Until the service runs, a signal ends the history: otherwise PostgreSQL and the data folder would stay.
const interrupted = new AbortController();
const { signal } = interrupted;
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
for (const name of signals) process.on(name, () => interrupted.abort());

const world = worldOf(size);
const vendors = await startVendors(world);
const settings = {
  HOST: '127.0.0.1',
  PORT: values.port,
  RRS_DATA_DIR: folder,
  RRS_OUTBOUND_ALLOW: '127.0.0.1',
  RRS_ENRICHMENT_MIRRORS: vendors.mirrors.join(','),
};
process.stdout.write(`Writing ${size.weeks} weeks of the history of ${company.name}:\n`);
const onWeek = (week: number, findings: number) => process.stdout.write(`  week ${week + 1}: ${findings} findings, ${seconds()}\n`);
await fill({ world, vendors, settings, signal, onWeek }).catch((error: unknown) => {
  if (!signal.aborted) throw error;
});
if (signal.aborted) process.exit(0);

const program = fileURLToPath(new URL('../../service/bin/rrs-server.mjs', import.meta.url));
const service = spawn(process.execPath, ['--max-semi-space-size=8', program, 'start'], {
  env: { ...process.env, LOG_LEVEL: 'warn', ...settings },
  stdio: ['ignore', 'pipe', 'inherit'],
});
for (const name of signals) process.on(name, () => service.kill(name));
service.on('exit', (code) => process.exit(code ?? 1));
let printed = '';
for await (const chunk of service.stdout) {
  printed += chunk;
  const url = /http:\/\/127\.0\.0\.1:\d+/.exec(printed)?.[0];
  if (url === undefined) continue;
  process.stdout.write(greeting(url));
  break;
}
service.stdout.resume();

function greeting(url: string): string {
  const rows = [people.owner, people.analyst, people.auditor].map(({ role, email, name }) => `  ${role.padEnd(8)} ${email.padEnd(34)} ${PASSWORD}   (${name})`);
  return `\nThe demo is ready after ${seconds()}: ${url}\n\nSign in as\n${rows.join('\n')}\n\nThe API documentation is at ${url}/docs. Ctrl-C stops the service and deletes the data.\n`;
}
