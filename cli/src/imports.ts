import type { Client, Import } from '@rrs/client';

const POLL_MS = 500;

/** Polls until the import has ended, and reports how far it is. */
export async function waitForImport(client: Client, first: Import, report: (current: Import) => void = () => {}): Promise<Import> {
  let current = first;
  while (current.status === 'queued' || current.status === 'running') {
    report(current);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    current = await client.call('getImport', { path: { id: current.id } });
  }
  return current;
}
