import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTestDatabase, type TestDatabase } from '../postgres.ts';

/** Creates a database behind a proxy that can drop all connections (`cut`) and accept them again (`mend`). */
export async function createCuttableDatabase(): Promise<TestDatabase & { cut(): Promise<void>; mend(): Promise<void> }> {
  const database = await createTestDatabase();
  const folder = await mkdtemp(join(tmpdir(), 'rrs-proxy-'));
  const parameters = new URLSearchParams(database.url.split('?')[1]);
  const name = `.s.PGSQL.${parameters.get('port') ?? 5432}`;
  const target = join(parameters.get('host') ?? '', name);
  const sockets = new Set<Socket>();
  let server: Server | undefined;

  const mend = async (): Promise<void> => {
    server = createServer((inner) => {
      const outer = connect(target);
      for (const [one, other] of [
        [inner, outer],
        [outer, inner],
      ] as const) {
        sockets.add(one);
        one.pipe(other);
        one.on('error', () => other.destroy());
        one.on('close', () => {
          sockets.delete(one);
          other.destroy();
        });
      }
    }).listen(join(folder, name));
    await once(server, 'listening');
  };
  const cut = async (): Promise<void> => {
    server?.close();
    for (const socket of sockets) socket.destroy();
    if (server) await once(server, 'close');
    server = undefined;
  };

  await mend();
  parameters.set('host', folder);
  return {
    url: `${database.url.split('?')[0]}?${parameters}`,
    cut,
    mend,
    drop: async () => {
      await cut();
      rmSync(folder, { recursive: true, force: true });
      await database.drop();
    },
  };
}
