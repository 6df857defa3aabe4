import { expect, inject, it } from 'vitest';
import { withClient } from './with-client.ts';

it('a server that stops ends the connection, but not the process', async () => {
  const url = inject('postgresUrl');
  await withClient(url, async (client) => {
    const { rows } = await client.query('select pg_backend_pid() as pid');
    const ended = new Promise<void>((resolve) => client.once('end', resolve));
    await withClient(url, (other) => other.query('select pg_terminate_backend($1)', [rows[0].pid]));
    await ended;
    await expect(client.query('select 1')).rejects.toThrow();
  });
});
