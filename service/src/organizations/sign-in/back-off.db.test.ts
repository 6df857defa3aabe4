import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startApi, type TestApi } from '../../testing/http/api.ts';
import { addPerson, behindProxy, fromRandomAddress, type Person, trySignIn } from '../../testing/people.ts';

let api: TestApi;
let person: Person;

beforeAll(async () => {
  api = await startApi({ config: behindProxy });
});
beforeEach(async () => {
  person = await addPerson(api, api.ours, 'viewer');
});
afterAll(() => api?.close());

const guess = () => trySignIn(api, person.email, 'a wrong guess').then(({ status }) => status);
const right = () => trySignIn(api, person.email, person.password).then(({ status }) => status);

async function guesses(count: number): Promise<void> {
  for (let n = 0; n < count; n++) expect(await guess()).toBe(401);
}

async function account() {
  const member = await api.db.withSystem((tx) =>
    tx.selectFrom('members').select(['failed_sign_ins', 'locked_until']).where('id', '=', person.id).executeTakeFirstOrThrow(),
  );
  return { failures: member.failed_sign_ins, lockedUntil: member.locked_until?.getTime() ?? null };
}

/** Makes one more wrong guess after the lock has ended, and returns whether the account is locked for that long. */
async function expectWait(seconds: number): Promise<void> {
  await endLock();
  const before = Date.now();
  await guesses(1);
  const { lockedUntil } = await account();
  expect(lockedUntil).toBeGreaterThanOrEqual(before + seconds * 1_000 - 50);
  expect(lockedUntil).toBeLessThanOrEqual(Date.now() + seconds * 1_000);
}

const setLock = (locked_until: Date) => api.db.withSystem((tx) => tx.updateTable('members').set({ locked_until }).where('id', '=', person.id).execute());
const endLock = () => setLock(new Date(Date.now() - 1_000));

async function refusals(): Promise<number> {
  const rows = await api.db.withSystem((tx) =>
    tx.selectFrom('audit_events').select('id').where('action', '=', 'session.refused').where('object_id', '=', person.id).execute(),
  );
  return rows.length;
}

describe('guessing a password', () => {
  it('has no consequence four times', async () => {
    await guesses(4);
    expect(await account()).toEqual({ failures: 4, lockedUntil: null });
    expect(await right()).toBe(201);
    expect(await account()).toEqual({ failures: 0, lockedUntil: null });
  });

  it('locks out even the right password after the fifth failure, with the same response', async () => {
    await guesses(5);
    await setLock(new Date(Date.now() + 60_000));
    const [waiting, wrong] = [await trySignIn(api, person.email, person.password), await trySignIn(api, person.email, 'a wrong guess')];
    expect(waiting.status).toBe(401);
    expect(waiting.headers.has('set-cookie')).toBe(false);
    const detail = ({ body }: { body: unknown }) => (body as { detail: string }).detail;
    expect(detail(waiting)).toBe(detail(wrong));
    expect(await account()).toMatchObject({ failures: 5 });
    expect(await refusals()).toBe(5);
  });

  it('accepts the right password when the lock has ended and resets the failures', async () => {
    await guesses(5);
    await endLock();
    expect(await right()).toBe(201);
    expect(await account()).toEqual({ failures: 0, lockedUntil: null });
    await guesses(4);
    expect(await right()).toBe(201);
  });

  it('doubles the lock time after each failure, up to 15 minutes', async () => {
    await guesses(4);
    for (const seconds of [1, 2, 4, 8]) await expectWait(seconds);
    await api.db.withSystem((tx) => tx.updateTable('members').set({ failed_sign_ins: 5_000_000 }).where('id', '=', person.id).execute());
    await expectWait(900);
  });

  it('counts parallel attempts: only the first few of 50 verify the password', async () => {
    const answers = await Promise.all([...Array.from({ length: 49 }, guess), right()]);
    expect(answers.filter((status) => status === 401).length).toBeGreaterThanOrEqual(49);
    const { failures } = await account();
    expect(await refusals()).toBeLessThanOrEqual(7);
    expect(failures).toBeLessThanOrEqual(7);
  });

  it('does not lock other accounts', async () => {
    const other = await addPerson(api, api.ours, 'viewer');
    await guesses(5);
    expect((await trySignIn(api, other.email, other.password)).status).toBe(201);
  });

  it('of one organization does not lock the account of another, and does not tell it', async () => {
    const { email } = person;
    const body = { email, name: 'the same', role: 'viewer', password: 'of the other organization' };
    const { body: other } = await api.call('POST', '/api/v1/members', { as: api.theirs.owner, body });
    const refusedTo = async (organization: string) => {
      const events = await api.call('GET', '/api/v1/audit-events?action=session.refused&limit=200', { as: organization });
      return (events.body as { data: { object: { id: string }; address: string | null }[] }).data.filter(({ object }) =>
        [person.id, (other as Person).id].includes(object.id),
      );
    };
    for (let n = 0; n < 7; n++) expect(await right()).toBe(201);
    expect(await refusedTo(api.theirs.owner)).toEqual([]);
    expect((await trySignIn(api, email, body.password, { organization: 'theirs' })).status).toBe(201);
    // A wrong password is counted in both, without the address, for sign-ins that name no organization.
    expect(await guess()).toBe(401);
    expect((await refusedTo(api.theirs.owner)).map(({ address }) => address)).toEqual([null]);
    // Whoever controls one organization cannot use its passwords to guess those of another one without a limit.
    const verified = async () =>
      (await api.db.withSystem((tx) => tx.selectFrom('members').select('failed_shared_sign_ins').where('id', '=', person.id).executeTakeFirstOrThrow()))
        .failed_shared_sign_ins;
    for (let n = 0; n < 12; n++) {
      const password = `guess number ${n}`;
      await api.call('PATCH', `/api/v1/members/${(other as Person).id}`, { as: api.theirs.owner, body: { password } });
      await trySignIn(api, email, password);
    }
    expect(await verified()).toBeLessThan(8);
    expect((await trySignIn(api, email, person.password, { organization: 'ours' })).status).toBe(201);
  });

  it('is forgiven when an administrator sets a new password', async () => {
    await guesses(5);
    await setLock(new Date(Date.now() + 60_000));
    await api.call('PATCH', `/api/v1/members/${person.id}`, { as: api.ours.owner, body: { password: 'given by the owner' } });
    expect((await trySignIn(api, person.email, 'given by the owner')).status).toBe(201);
  });
});

describe('failures from one IP address', () => {
  it('delay all attempts from that address, but not other addresses or valid keys', async () => {
    const headers = fromRandomAddress();
    const statuses: number[] = [];
    for (let n = 0; n < 31; n++) statuses.push((await api.call('GET', '/api/v1/me', { as: `guess-${n}`, headers })).status);
    expect(statuses.slice(0, 30)).toEqual(Array(30).fill(401));
    expect(statuses[30]).toBe(429);
    const waiting = await trySignIn(api, person.email, person.password, { headers });
    expect(waiting).toMatchObject({ status: 429, body: { code: 'rate_limited' } });
    expect(Number(waiting.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await right()).toBe(201);
    expect((await api.call('GET', '/api/v1/me', { as: api.ours.owner, headers })).status).toBe(200);
  });
});
