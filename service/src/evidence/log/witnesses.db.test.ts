import { ed25519RawFromSpki, parseEpochStatement, spkiFromPem, witnessVkey } from '@rrs/evidence-format';
import { addKeys, bytesSource, emptyTrust, keyFilesIn, type Report, type Trust, verifyPackage } from '@rrs/verifier';
import { nodePlatform } from '@rrs/verifier/node';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type PackageBody, usePackages } from '../../testing/evidence/packages.ts';
import { startWitness, type TestWitness } from '../../testing/fakes/witness.ts';
import { endRewoundLogs } from './open-log.ts';

let first: TestWitness;
let second: TestWitness;
const world = usePackages({ idle: true, witnesses: () => [first, second] });
let item: string;

beforeAll(async () => {
  [first, second] = (await Promise.all(['witness.example/w1', 'witness.example/w2'].map(startWitness))) as [TestWitness, TestWitness];
  const { keys } = await world.get<{ keys: { use: string; public_key_pem: string }[] }>('/riskops-evidence/keys');
  const key = ed25519RawFromSpki(spkiFromPem(keys.find(({ use }) => use === 'note')?.public_key_pem ?? ''));
  for (const witness of [first, second]) witness.trust((origin) => (origin.includes('/orgs/') ? key : null));
  ({ id: item } = await world.post<{ id: string }>('/work-items', { title: 'Witnessed' }));
});
afterAll(() => Promise.all([first?.close(), second?.close()]));
afterEach(() => {
  for (const witness of [first, second]) witness.behave(witness.answer);
});

interface Witnessed extends PackageBody {
  witnesses: { name: string; cosigned_at: string | null }[];
}

async function seal(): Promise<Witnessed> {
  const { package_id } = await world.request(item);
  await world.attempt(package_id);
  return world.get<Witnessed>(`/riskops-evidence/packages/${package_id}`);
}

async function verified(id: string, more: Partial<Trust> = {}): Promise<Report> {
  const trust = { ...emptyTrust(), ...more };
  addKeys(trust, keyFilesIn('keys.json', JSON.stringify(await world.get('/riskops-evidence/keys'))));
  return verifyPackage(bytesSource(await world.download(id)), trust, nodePlatform());
}

const checkpoint = () => world.get<{ origin: string; epoch: number; tree_size: number; root_hash: string; note: string }>('/riskops-evidence/log/checkpoint');
const confirmed = ({ witnesses }: Witnessed) => witnesses.filter(({ cosigned_at }) => cosigned_at !== null).map(({ name }) => name);

async function statementOf(epoch: number) {
  const { statement } = await world.get<{ statement: string }>(`/riskops-evidence/log/entries/0?epoch=${epoch}`);
  return parseEpochStatement(Buffer.from((JSON.parse(statement) as { payload: string }).payload, 'base64'));
}

describe('witnesses', () => {
  it('confirm each checkpoint, and the package carries what they signed', async () => {
    await seal();
    const sealed = await seal();
    const { origin, tree_size } = await checkpoint();
    expect(confirmed(sealed)).toEqual([first.name, second.name]);
    expect(first.seen(origin)?.size).toBe(tree_size);
    const report = await verified(sealed.package_id, { witnessKeys: [witnessVkey(first)] });
    expect(report).toMatchObject({
      verdict: 'verified',
      package: {
        witnesses: [
          { name: first.name, trusted: true },
          { name: second.name, trusted: false },
        ],
      },
    });
    expect(report.taken_on_trust).not.toContain('no_checkpoint_or_witness');
    const stranger = witnessVkey({ name: first.name, key: second.key });
    expect(await verified(sealed.package_id, { witnessKeys: [stranger] })).toMatchObject({ verdict: 'consistent', failures: [] });
    expect((await verified(sealed.package_id)).taken_on_trust).toContain('no_checkpoint_or_witness');
  });

  it('that do not answer are missing from the package, which is sealed all the same, and catch up later', async () => {
    first.behave((_, reply) => void reply.destroy());
    const sealed = await seal();
    expect(sealed).toMatchObject({ status: 'ready' });
    expect(confirmed(sealed)).toEqual([second.name]);
    first.behave(first.answer);
    expect(confirmed(await seal())).toEqual([first.name, second.name]);
  });
});

describe('a witness that has seen another log starts a new epoch', () => {
  it('if it has seen more entries', async () => {
    await seal();
    const { origin, epoch, tree_size } = await checkpoint();
    first.remember({ origin, size: tree_size + 5, root: Buffer.alloc(32, 1) });
    const sealed = await seal();
    expect(await checkpoint()).toMatchObject({ epoch: epoch + 1, tree_size: 2 });
    expect(await statementOf(epoch + 1)).toMatchObject({
      reason: 'rewound',
      lost: 5,
      previous: { kept: { size: tree_size }, highest_known: { size: tree_size + 5, root: null, source: 'witness' } },
    });
    expect(confirmed(sealed)).toEqual([first.name, second.name]);
    expect(await verified(sealed.package_id, { witnessKeys: [witnessVkey(first)] })).toMatchObject({ verdict: 'verified', failures: [] });
  });

  it('if it has seen another tree of the same size, noticed at the start', async () => {
    await seal();
    const { origin, epoch, tree_size } = await checkpoint();
    first.remember({ origin, size: tree_size, root: Buffer.alloc(32, 1) });
    const { db, ours } = world.api();
    expect(await endRewoundLogs(db, world.keysDir, [first])).toEqual([{ orgId: ours.id, reason: 'rewound' }]);
    await seal();
    expect(await statementOf(epoch + 1)).toMatchObject({ reason: 'rewound', lost: null });
  });

  it('if that happens between the comparison and the entry', async () => {
    await seal();
    const { origin, epoch, tree_size } = await checkpoint();
    const { package_id } = await world.request(item);
    const sealing = await world.suspend(package_id, 'log');
    first.remember({ origin, size: tree_size + 2, root: Buffer.alloc(32, 1) });
    await expect(sealing.resume()).rejects.toThrow('has seen another log');
    await world.attempt(package_id);
    expect(await checkpoint()).toMatchObject({ epoch: epoch + 1 });
    expect(await verified(package_id)).toMatchObject({ verdict: 'verified', failures: [] });
  });

  it('but only a few times, and never keeps a package from being sealed', async () => {
    const { epoch } = await checkpoint();
    first.behave((_, reply) => reply.writeHead(409).end('1000000\n'));
    const { package_id } = await world.request(item);
    for (let attempts = 0; attempts < 3; attempts++) await expect(world.attempt(package_id)).rejects.toThrow('has seen another log');
    await world.attempt(package_id);
    const sealed = await world.get<Witnessed>(`/riskops-evidence/packages/${package_id}`);
    expect(sealed).toMatchObject({ status: 'ready' });
    expect(confirmed(sealed)).toEqual([second.name]);
    expect((await checkpoint()).epoch).toBeGreaterThan(epoch);
  });
});

it('asks a witness that does not answer only once at the start', async () => {
  await seal();
  first.behave((_, reply) => void reply.destroy());
  const before = first.asked();
  expect(await endRewoundLogs(world.api().db, world.keysDir, [first])).toEqual([]);
  expect(first.asked()).toBe(before + 1);
});
