import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openFileStore } from '../blobs/file-store.ts';
import { allowedInTransaction, asTransaction } from '../db/transaction-scope.ts';
import { createKeyFile, keyKinds, readSigner } from '../evidence/keys/key-files.ts';
import { openKeyRing } from '../integrations/connections/secrets.ts';
import { createGuard } from '../net/addresses.ts';
import { createOutbound } from '../net/request.ts';

async function folder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'rrs-scope-'));
  onTestFinished(() => rm(path, { recursive: true, force: true }));
  return path;
}

test('the object store is not used inside a transaction', async () => {
  const blobs = openFileStore(await folder());
  await expect(asTransaction(async () => blobs.stat('0'.repeat(64)))).rejects.toThrow('inside a transaction');
  await expect(asTransaction(async () => blobs.list())).rejects.toThrow('inside a transaction');
  expect(await asTransaction(() => allowedInTransaction(() => blobs.stat('0'.repeat(64))))).toBeNull();
});

test('other systems are not called inside a transaction', async () => {
  const outbound = createOutbound({ guard: createGuard([]) });
  const request = { method: 'GET', url: new URL('https://example.com'), timeoutMs: 1_000, maxBytes: 1 };
  await expect(asTransaction(() => outbound.send(request))).rejects.toThrow('inside a transaction');
});

test('signing keys are not read inside a transaction', async () => {
  const path = await folder();
  await expect(asTransaction(() => readSigner(path, keyKinds.package))).rejects.toThrow('inside a transaction');
  await expect(asTransaction(() => createKeyFile(path, keyKinds.package))).rejects.toThrow('inside a transaction');
  expect(await readSigner(path, keyKinds.package)).toBeNull();
});

test('key files are not read inside a transaction, where keys that were read before can be used', async () => {
  const keys = openKeyRing(await folder());
  await expect(asTransaction(() => keys.seal('context', { token: 'a' }))).rejects.toThrow('inside a transaction');
  await keys.refresh();
  const sealed = await asTransaction(() => keys.seal('context', { token: 'a' }));
  expect(await asTransaction(() => keys.open('context', sealed))).toEqual({ token: 'a' });
});
