import type { Result } from '../results.ts';
import type { Session } from '../session.ts';

const BAR_MS = 50;

/** The service resets its measurement whenever it is read. */
async function longestStallMs({ service }: Session): Promise<number> {
  const text = await (await fetch(`${service.url}/metrics`)).text();
  return Number(/^nodejs_eventloop_lag_max_seconds (\S+)/m.exec(text)?.[1]) * 1000;
}

/** Measures how long the event loop of the API stood still during some work. */
export async function stallOf(session: Session, what: string, work: () => Promise<unknown>): Promise<Result> {
  await longestStallMs(session);
  await work();
  const ms = await longestStallMs(session);
  return {
    id: 'LONG',
    what: `longest stall of the event loop of the API during ${what}`,
    figure: `${Math.round(ms)} ms`,
    bar: `< ${BAR_MS} ms`,
    met: ms < BAR_MS,
  };
}

export async function call<T>({ service, headers }: Session, method: string, path: string, body?: object): Promise<T> {
  const response = await fetch(`${service.url}/api/v1${path}`, {
    method,
    headers: { ...headers, prefer: 'wait=0', ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${method} ${path}: ${await response.text()}`);
  return (await response.json()) as T;
}
