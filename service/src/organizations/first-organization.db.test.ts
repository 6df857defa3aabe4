import { afterAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { type Database, openDatabase } from '../db/database.ts';
import { createTestDatabase } from '../testing/postgres.ts';
import { startReplica } from '../testing/replica.ts';
import { mintToken } from './api-keys/tokens.ts';
import { createFirstOrganization } from './first-organization.ts';

let url: string;
let db: Database;
const drops: (() => Promise<void>)[] = [];

beforeEach(async () => {
  const own = await createTestDatabase();
  drops.push(own.drop);
  url = own.url;
  db = openDatabase({ url, poolSize: 4 });
  onTestFinished(() => db.close());
});
afterAll(() => Promise.all(drops.map((drop) => drop())));

async function me(key: string) {
  const replica = await startReplica(url);
  onTestFinished(() => replica.close());
  return replica.call('GET', '/api/v1/me', { as: key });
}

function organizations() {
  return db.withSystem((tx) => tx.selectFrom('organizations').select('slug').execute());
}

const defaultOwner = { status: 200, body: { type: 'api_key', role: 'owner', name: 'first owner key', organization: { slug: 'default' } } };

describe('the first organization', () => {
  it('is created exactly once when 20 processes start together', async () => {
    const written = vi.fn();
    const keys = await Promise.all(Array.from({ length: 20 }, () => createFirstOrganization(db, null, written)));
    const given = keys.filter((key) => key !== null);
    expect(given).toHaveLength(1);
    expect(written.mock.calls).toEqual([given]);
    expect(await organizations()).toEqual([{ slug: 'default' }]);
    expect(await db.withSystem((tx) => tx.selectFrom('api_keys').select('role').execute())).toEqual([{ role: 'owner' }]);
    expect(await me(given[0]?.owner ?? '')).toMatchObject(defaultOwner);
  });

  it.each([
    ['a word', 'a-bootstrap-key-of-the-operator'],
    ['any visible characters', '!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~'],
    ['with dots like a token of an identity provider', 'bootstrap.key.with-dots'],
    ['a key of ours from another installation', mintToken('rrs', '01994f3e-8a10-7c31-9d3c-5f1f4b8f0a11').token],
  ])('gets the key that the operator chose: %s', async (_, chosen) => {
    expect(await createFirstOrganization(db, chosen, () => {})).toMatchObject({ owner: chosen });
    expect(await me(chosen)).toMatchObject(defaultOwner);
    expect(await me(`${chosen.slice(0, -1)}x`)).toMatchObject({ status: 401 });
    expect(await db.withSystem((tx) => tx.selectFrom('api_keys').select('prefix').execute())).toEqual([{ prefix: chosen.slice(0, 12) }]);
  });

  it('is rolled back when its key cannot be stored', async () => {
    const full = () => {
      throw new Error('no space left on device');
    };
    await expect(createFirstOrganization(db, null, full)).rejects.toThrow('no space left');
    expect(await organizations()).toEqual([]);
    expect(await createFirstOrganization(db, null, () => {})).toMatchObject({ owner: expect.stringMatching(/^rrs_/), setup: expect.stringMatching(/^stp_/) });
  });

  it('is not created if there is an organization of any name', async () => {
    await createFirstOrganization(db, null, () => {});
    await db.withSystem((tx) => tx.updateTable('organizations').set({ slug: 'renamed' }).execute());
    expect(await createFirstOrganization(db, 'a-bootstrap-key-of-the-operator', () => {})).toBeNull();
    expect(await me('a-bootstrap-key-of-the-operator')).toMatchObject({ status: 401 });
  });
});
