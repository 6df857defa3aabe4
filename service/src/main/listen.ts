import type { Socket } from 'node:net';
import type { App } from '../http/app.ts';
import { errorCodeOf, OperatorError } from '../shared/errors.ts';

export interface Listening {
  url: string;
  close(): Promise<void>;
}

const SWEEP_MS = 50;

export async function listen(app: App, host: string, port: number): Promise<Listening> {
  const sockets = new Set<Socket>();
  app.server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  try {
    await listenSilently(app, host, port);
  } catch (error) {
    await app.close();
    throw explain(error, host, port);
  }
  const address = app.server.address();
  return {
    url: `http://${hostInUrl(host)}:${address !== null && typeof address === 'object' ? address.port : port}`,
    close: () => close(app, sockets),
  };
}

/** Fastify logs each address before the program greets. The greeting and the line "started" name it, too. */
async function listenSilently(app: App, host: string, port: number): Promise<void> {
  const { level } = app.log;
  app.log.level = 'silent';
  try {
    await app.listen({ host, port });
  } finally {
    app.log.level = level;
  }
}

/** Waits for requests in flight. Connections without a request are closed, now and as they become idle, so that they do not delay the stop. */
async function close(app: App, sockets: ReadonlySet<Socket>): Promise<void> {
  const sweep = setInterval(() => {
    app.server.closeIdleConnections();
    for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
  }, SWEEP_MS);
  try {
    await app.close();
  } finally {
    clearInterval(sweep);
  }
}

function explain(error: unknown, host: string, port: number): unknown {
  const code = errorCodeOf(error);
  if (code === 'EADDRINUSE')
    return new OperatorError(`Port ${port} on ${host} is in use. Stop the other program or set PORT to another port.`, { cause: error });
  if (code === 'EACCES') return new OperatorError(`This user may not listen on port ${port}. Set PORT to a port above 1023.`, { cause: error });
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') return new OperatorError(`${host} is not an address of this machine. Correct HOST.`, { cause: error });
  return error;
}

export function hostInUrl(host: string): string {
  if (host === '0.0.0.0' || host === '::') return 'localhost';
  return host.includes(':') ? `[${host}]` : host;
}
