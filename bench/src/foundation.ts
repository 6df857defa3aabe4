import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { load } from './load.ts';
import { residentMiB, start, temporaryFolder } from './processes.ts';
import type { Result } from './results.ts';

/** ME and P7: throughput of GET /me, restart time and idle memory. */
export async function foundation({ rounds, seconds }: { rounds: number; seconds: number }): Promise<Result[]> {
  const folder = temporaryFolder();
  const settings = { RRS_DATA_DIR: folder.path, RRS_RATE_LIMIT: '0' };
  try {
    await (await start('service', settings)).stop();
    const service = await start('service', settings);
    try {
      const idle = residentMiB(service.pid);
      const me = await compareMe(service.url, folder.path, rounds, seconds);
      return [
        me,
        { id: 'P7', what: 'restart to first response', figure: `${Math.round(service.startMs)} ms`, bar: '< 2000 ms', met: service.startMs < 2000 },
        { id: 'P7', what: 'memory of the idle service process', figure: `${Math.round(idle)} MiB`, bar: '< 160 MiB', met: idle < 160 },
      ];
    } finally {
      await service.stop();
    }
  } finally {
    folder.remove();
  }
}

async function compareMe(url: string, dataDir: string, rounds: number, seconds: number): Promise<Result> {
  const key = readFileSync(join(dataDir, 'first-owner-key'), 'utf8').trim();
  const headers = { authorization: `Bearer ${key}` };
  const { organization, permissions } = (await (await fetch(`${url}/api/v1/me`, { headers })).json()) as {
    organization: { id: string };
    permissions: string[];
  };
  const bare = await start('bare', {
    BENCH_DATABASE_URL: readFileSync(join(dataDir, 'postgres.url'), 'utf8').trim(),
    BENCH_KEY: key,
    BENCH_ORG: organization.id,
    BENCH_PERMISSIONS: permissions.join(','),
  });
  try {
    const options = { connections: 16, seconds };
    const ratios: number[] = [];
    let [service, baseline] = [0, 0];
    await load(`${bare.url}/me`, {}, options);
    await load(`${url}/api/v1/me`, headers, options);
    for (let round = 0; round < rounds; round++) {
      baseline = (await load(`${bare.url}/me`, {}, options)).perSecond;
      service = (await load(`${url}/api/v1/me`, headers, options)).perSecond;
      ratios.push(service / baseline);
    }
    const ratio = ratios.sort((a, b) => a - b)[Math.floor(ratios.length / 2)] ?? 0;
    const figure = `${ratio.toFixed(2)} × (${Math.round(service)}/s vs ${Math.round(baseline)}/s)`;
    return { id: 'ME', what: 'GET /me, compared with a plain Fastify handler with the same query', figure, bar: '≥ 0.6 ×', met: ratio >= 0.6 };
  } finally {
    await bare.stop();
  }
}
