import { type Random, randomOf } from '../../../service/src/testing/truth/random.ts';
import type { Outcome } from '../figures.ts';
import { manyEntries } from './hostile.ts';
import { inParallel, type Size, type Target, within } from './target.ts';

const PARALLEL = 4;
const VERIFY = '/api/v1/riskops-evidence/verify';

/** Changed copies of a package and hostile archives. None may be verified. */
export async function verifySet(target: Target, { count, seed, minutes, share }: Size & { share: number }): Promise<Outcome> {
  const { api } = target;
  const as = api.ours.owner;
  const violations: string[] = [];
  const package_ = await seal(target);
  const verdicts = new Map<string, number>();
  const send = async (bytes: Uint8Array): Promise<string> => {
    const headers = { 'content-type': 'application/zip' };
    const { status, body } = await api.call('POST', VERIFY, { as, body: bytes, headers }).catch((error: unknown) => ({ status: 0, body: String(error) }));
    if (status !== 200 && status !== 400 && status !== 422) violations.push(`verify: ${status} ${JSON.stringify(body).slice(0, 300)}`);
    const verdict = status === 200 ? (body as { verdict: string }).verdict : String(status);
    verdicts.set(verdict, (verdicts.get(verdict) ?? 0) + 1);
    return verdict;
  };
  const genuine = await send(package_);
  if (genuine !== 'verified') violations.push(`the genuine package is ${genuine}`);
  verdicts.clear();
  const random = randomOf(seed);
  function* mutants(): Generator<Uint8Array> {
    for (const archive of [
      manyEntries(60_000 * share),
      Buffer.alloc(0),
      Buffer.from('PK\u0005\u0006'),
      Buffer.alloc(1_000_000 * share, 'PK\u0003\u0004'),
      Buffer.concat([package_, package_]),
    ])
      yield archive;
    for (let n = 0; n < count; n++) yield mutant(package_, random);
  }
  await inParallel(within(minutes, mutants()), PARALLEL, async (bytes) => {
    if ((await send(bytes)) === 'verified') violations.push('a changed package is verified');
  });
  const health = target.healthOf('verify');
  return {
    figures: [
      ['verify: changed packages', [...verdicts].map(([verdict, n]) => `${verdict}: ${n}`).join(', ')],
      ['verify: other callers', health.figure],
    ],
    violations: [...violations, ...health.violations],
  };
}

/** Always different from the original. */
function mutant(bytes: Uint8Array, random: Random): Uint8Array {
  const at = random.number(bytes.length);
  const length = 1 + random.number(50);
  const copy = Buffer.from(bytes);
  copy[at] = (copy[at] ?? 0) ^ (1 + random.number(255));
  return random.pick([
    () => copy,
    () => Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + length)]),
    () => Buffer.concat([bytes.subarray(0, at), Buffer.alloc(length, random.number(256)), bytes.subarray(at)]),
    () => Buffer.concat([copy, copy.subarray(at)]),
  ])();
}

async function seal({ api }: Target): Promise<Uint8Array> {
  const as = api.ours.owner;
  const { body: item } = await api.call('POST', '/api/v1/work-items', { as, body: { title: 'To verify' } });
  const body = { work_item_id: (item as { id: string }).id };
  const { body: sealed } = await api.call('POST', '/api/v1/riskops-evidence/packages', { as, body, headers: { prefer: 'wait=60' } });
  const { package_id } = sealed as { package_id: string };
  const response = await fetch(`${api.url}/api/v1/riskops-evidence/packages/${package_id}/download`, { headers: { authorization: `Bearer ${as}` } });
  return new Uint8Array(await response.arrayBuffer());
}
