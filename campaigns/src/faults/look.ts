import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { postgresChildren, type Service, until } from '../processes.ts';

export async function isReady(url: string): Promise<boolean> {
  const response = await fetch(`${url}/readyz`).catch(() => null);
  return response !== null && ((await response.json()) as { status: string }).status === 'ok';
}

const LOG_SECONDS = 5;
const LINES_AROUND = 5;

/** What a service logged about a request, and right before and after it. The log is written after the response. */
export async function logAround(service: Service, requestId: string): Promise<string> {
  const at = (): number => lines().findIndex((line) => line.includes(requestId));
  const lines = (): string[] => service.log().split('\n');
  await until('it is logged', LOG_SECONDS, () => at() >= 0 || service.ended()).catch(() => {});
  const shown = at() >= 0 ? lines().slice(Math.max(0, at() - LINES_AROUND), at() + LINES_AROUND + 1) : ['nothing'];
  return [`logged around request ${requestId}:`, ...shown].join('\n');
}

/** What there is to see of a service that does not become ready. */
export async function stateOf(service: Service, dataDir: string): Promise<string> {
  const answer = await fetch(`${service.url}/readyz`, { signal: AbortSignal.timeout(5_000) }).then((response) => response.text(), String);
  // Each connection that is refused while the database recovers is a line.
  const postgres = readFileSync(join(dataDir, 'postgres.log'), 'utf8').split('\n');
  const telling = postgres.filter((line) => !/the database system is (in recovery|starting)/.test(line));
  const processes = postgresChildren(dataDir).map((pid) => `${pid} ${readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim()}`);
  return [
    `/readyz: ${answer}`,
    `log: ${service.log().slice(-2_000)}`,
    `PostgreSQL: ${telling.slice(-20).join('\n')}`,
    `its processes: ${processes.join(', ')}`,
  ].join('\n');
}
