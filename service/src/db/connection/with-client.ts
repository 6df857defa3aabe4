import pg from 'pg';

/** Opens a connection of its own for `use`, and closes it. */
export async function withClient<T>(config: string | pg.ClientConfig, use: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client(config);
  // A broken connection fails the running statement. Without a listener, the event would also end the process, even while the connection is being closed.
  client.on('error', () => {});
  try {
    await client.connect();
    return await use(client);
  } finally {
    await client.end().catch(() => {});
  }
}
