import { median, type Session } from '../session.ts';

export const PAGE = '/findings?limit=50';

interface Target {
  url: string;
  headers: Record<string, string>;
}

export const apiOf = ({ service, headers }: Session): Target => ({ url: `${service.url}/api/v1`, headers });

/** Milliseconds until the whole response was read. Uncompressed, so that the client's part stays small. */
async function timeOf({ url, headers }: Target, path: string): Promise<number> {
  const started = performance.now();
  const response = await fetch(`${url}${path}`, { headers: { ...headers, 'accept-encoding': 'identity' } });
  const text = await response.text();
  // A page that took too long counts with the time after which it was stopped.
  if (response.status !== 200 && response.status !== 503) throw new Error(`${path}: ${text}`);
  return performance.now() - started;
}

export async function timesOf(target: Target, path: string, count: number): Promise<number[]> {
  const times: number[] = [];
  for (let n = 0; n < count + 10; n++) times.push(await timeOf(target, path));
  return times.slice(10);
}

/** Pages with these filters. The median of the tries counts. */
export async function timesOfEach(target: Target, queries: readonly string[], tries: number): Promise<{ query: string; ms: number }[]> {
  const measured = [];
  for (const query of queries) {
    const times: number[] = [];
    for (let n = 0; n < tries; n++) times.push(await timeOf(target, `${PAGE}&${query}`));
    measured.push({ query, ms: median(times) });
  }
  return measured;
}

export function percentile(values: readonly { ms: number }[], share: number): number {
  return values.map(({ ms }) => ms).sort((a, b) => a - b)[Math.floor(share * (values.length - 1))] ?? Number.NaN;
}
