import { connect } from 'node:net';

export interface Load {
  perSecond: number;
  p50: number;
  p95: number;
}

/** Sends one request at a time on each of several keep-alive connections. Any status other than 200 is an error. */
export async function load(url: string, headers: Record<string, string>, { connections, seconds }: { connections: number; seconds: number }): Promise<Load> {
  const { hostname, port, pathname, search, host } = new URL(url);
  const lines = Object.entries({ host, ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  const request = Buffer.from(`GET ${pathname}${search} HTTP/1.1\r\n${lines.join('')}\r\n`);
  const times: number[] = [];
  const started = performance.now();
  const deadline = started + seconds * 1000;
  await Promise.all(Array.from({ length: connections }, () => drive({ hostname, port: Number(port), request, deadline, times })));
  const elapsed = (performance.now() - started) / 1000;
  times.sort((a, b) => a - b);
  const at = (share: number): number => times[Math.floor(share * (times.length - 1))] ?? Number.NaN;
  return { perSecond: times.length / elapsed, p50: at(0.5), p95: at(0.95) };
}

interface Drive {
  hostname: string;
  port: number;
  request: Buffer;
  deadline: number;
  times: number[];
}

function drive({ hostname, port, request, deadline, times }: Drive): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, hostname);
    let buffered = '';
    let sent = 0;
    const send = (): void => {
      sent = performance.now();
      socket.write(request);
    };
    socket.setNoDelay(true).setEncoding('latin1').once('connect', send).once('error', reject);
    socket.on('data', (chunk: string) => {
      buffered += chunk;
      const head = buffered.indexOf('\r\n\r\n');
      if (head === -1) return;
      const length = Number(/content-length: (\d+)/i.exec(buffered)?.[1]);
      if (buffered.length < head + 4 + length) return;
      if (!buffered.startsWith('HTTP/1.1 200')) reject(new Error(`unexpected response: ${buffered.slice(0, 300)}`));
      const now = performance.now();
      times.push(now - sent);
      buffered = '';
      if (now < deadline) send();
      else {
        socket.destroy();
        resolve();
      }
    });
  });
}
