import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Errors } from 'typebox/schema';
import { afterEach, describe, expect, it } from 'vitest';
import { type Context, type Json, type Settings, type Ticket, type TicketDraft, type Ticketing, ticketStates } from '../core/contract.ts';
import { fakes } from '../fake-registry.ts';
import { connectors } from '../registry.ts';
import { type FakeOptions, type FakeVendor, type Fault, type RunningFake, serveFake } from '../testing/fake-server.ts';
import { contextOf } from '../testing/host.ts';

const running: RunningFake[] = [];
afterEach(async () => {
  for (const fake of running.splice(0)) await fake.close();
});

const KEY = '0190a0c4-7d1e-7c3a-9d2b-5e6f7a8b9c0d';
const draft: TicketDraft = {
  key: KEY,
  title: 'Upgrade log4j in the shop',
  body: ['All services on log4j 2.14 move to 2.17.1.', 'CVE-2021-44228 on web01, web02'],
  priority: 'high',
  dueDate: '2026-12-31',
  url: 'https://rrs.example/work-items/0190a0c4',
};
const specialCharacters = 'Ünïcode 漏洞 👩‍💻 "quoted" <b>bold</b> {macro} [x](y) *a* _b_ `c` $d & e | f \\ g ~h~ @ada #12 \'; drop --';
const OURS = 23;

const ticketings = connectors.filter((connector): connector is Ticketing => connector.kind === 'ticketing');
const cases = ticketings.map((ticketing) => [ticketing.id, ticketing, fakes.find(({ id }) => id === ticketing.id) as FakeVendor] as const);

async function pagesOf(pages: AsyncGenerator<readonly Ticket[]>): Promise<Ticket[]> {
  const all: Ticket[] = [];
  for await (const page of pages) all.push(...page);
  return all;
}

function isOrdered(tickets: readonly Ticket[]): boolean {
  return tickets.every(({ updatedAt }, index) => index === 0 || updatedAt >= (tickets[index - 1]?.updatedAt ?? updatedAt));
}

it('covers every ticketing connector', () => {
  expect(ticketings.map(({ id }) => id).sort()).toEqual(readdirSync(join(import.meta.dirname, '../ticketing')).sort());
  for (const [id, , vendor] of cases) expect(vendor, id).toBeDefined();
});

describe.each(cases)('%s', (_, ticketing, vendor) => {
  const started = async (options: Partial<FakeOptions> = {}, fault?: Fault, variant: Record<string, Json> = {}) => {
    const fake = await serveFake(vendor, { pageSize: 10, ...options }, fault);
    running.push(fake);
    const { config, credentials } = vendor.settings(fake.origin);
    return { fake, context: contextOf(ticketing, { config: { ...config, ...variant }, credentials }) };
  };
  const variants: readonly Record<string, Json>[] = [{}, ...(vendor.variants ?? [])];
  const allOf = (context: Context): Promise<Ticket[]> => pagesOf(ticketing.changedSince(context, new Date(0)));
  const everything = async (options: Partial<FakeOptions> = {}, fault?: Fault) => allOf((await started(options, fault)).context);
  const created = async (context: Context) => (await allOf(context)).filter(({ title }) => title === draft.title);

  it.each(variants)('creates a ticket and finds it by its key, with %j', async (variant) => {
    const { context } = await started({}, undefined, variant);
    expect(Errors(ticketing.config, context.config)).toEqual([true, []]);
    expect(Errors(ticketing.credentials, context.credentials)).toEqual([true, []]);
    await expect(ticketing.check(context)).resolves.toBeUndefined();
    await expect(ticketing.find(context, KEY)).resolves.toBeNull();
    const ticket = await ticketing.create(context, draft);
    expect(ticket).toMatchObject({ title: draft.title, priority: 'high', dueDate: '2026-12-31', state: 'open' });
    expect(ticket.key).not.toBe('');
    expect(new URL(ticket.url).protocol).toMatch(/^https?:$/);
    await expect(ticketing.find(context, KEY)).resolves.toEqual(ticket);
    await expect(ticketing.read(context, ticket.id)).resolves.toEqual(ticket);
    await expect(ticketing.find(context, `${KEY}1`)).resolves.toBeNull();
    await expect(ticketing.find(context, 'seed-3')).resolves.toMatchObject({ title: 'Weakness 3' });
    await expect(ticketing.find(context, 'A key\' OR "1" = "1" ^ORDERBY')).resolves.toBeNull();
    expect(JSON.stringify(ticket.raw)).toContain(draft.title);
    expect((await created(context)).map(({ id }) => id)).toEqual([ticket.id]);
  });

  it('distinguishes keys with any characters', async () => {
    const { context } = await started();
    const keys = ['Work item #1', 'work item #1', "it's", 'ключ', 'a'.repeat(300)];
    const ids: string[] = [];
    for (const key of keys) ids.push((await ticketing.create(context, { ...draft, key })).id);
    expect(new Set(ids).size).toBe(keys.length);
    for (const [index, key] of keys.entries()) expect((await ticketing.find(context, key))?.id).toBe(ids[index]);
  });

  it('does not create a second ticket when the response to the first was lost', async () => {
    for (const fault of [{ kind: 'dropped', at: 1, for: 1 } as const, { kind: 'truncated', at: 1, for: 1 } as const]) {
      const { context } = await started({}, fault);
      const outcome = await ticketing.create(context, draft).catch((error: unknown) => error);
      if (outcome instanceof Error) expect(outcome).toMatchObject({ name: 'ConnectorError', kind: expect.stringMatching(/unavailable|invalid_answer/) });
      const ticket = (await ticketing.find(context, KEY)) ?? (await ticketing.create(context, draft));
      expect((await created(context)).map(({ id }) => id)).toEqual([ticket.id]);
    }
  });

  it('does not retry a creation that may have succeeded', async () => {
    const { context } = await started({}, { kind: 'status', at: 1, status: 500, for: 1 });
    const outcome = await ticketing.create(context, draft).catch((error: unknown) => error);
    if (outcome instanceof Error) expect(outcome).toMatchObject({ kind: 'unavailable' });
    const after = await created(context);
    expect(after).toHaveLength(1);
    expect((await ticketing.find(context, KEY))?.id).toBe(after[0]?.id);
  });

  it('honors Retry-After and then creates the ticket once', async () => {
    const { context } = await started({}, { kind: 'refused', status: 429, headers: { 'retry-after': '9' }, for: 1 });
    const ticket = await ticketing.create(context, draft);
    expect(context.waits).toContainEqual(expect.toSatisfy((ms: number) => ms >= 9_000));
    expect((await created(context)).map(({ id }) => id)).toEqual([ticket.id]);
    const limited = await started({}, { kind: 'refused', status: 429 });
    await expect(ticketing.create(limited.context, draft)).rejects.toMatchObject({ kind: 'rate_limited' });
  });

  it.each(variants)('changes only the requested fields, with %j', async (variant) => {
    const { context } = await started({}, undefined, variant);
    const { id } = await ticketing.create(context, draft);
    const changes = [
      [{ title: 'Upgrade log4j everywhere' }, { title: 'Upgrade log4j everywhere', priority: 'high', dueDate: '2026-12-31' }],
      [{ priority: 'critical' }, { title: 'Upgrade log4j everywhere', priority: 'critical' }],
      [{ priority: 'medium' }, { priority: 'medium' }],
      [
        { priority: 'low', dueDate: '2027-02-28' },
        { priority: 'low', dueDate: '2027-02-28' },
      ],
      [{ body: ['Another text'] }, { dueDate: '2027-02-28', priority: 'low' }],
      [{ dueDate: null }, { dueDate: null, title: 'Upgrade log4j everywhere' }],
      [{}, { dueDate: null, state: 'open' }],
    ] as const;
    for (const [change, expected] of changes) {
      await expect(ticketing.update(context, id, change)).resolves.toMatchObject(expected);
      await expect(ticketing.read(context, id)).resolves.toMatchObject(expected);
    }
    const raw = JSON.stringify((await ticketing.read(context, id))?.raw);
    expect(raw).toContain('Another text');
    expect(raw).not.toContain('web02');
    expect(raw).toContain(draft.url);
    expect((await ticketing.find(context, KEY))?.id).toBe(id);
    expect((await created(context)).length).toBe(0);
    await expect(ticketing.update(context, '99999', { title: 'Nobody' })).rejects.toMatchObject({ kind: 'configuration' });
    await expect(ticketing.read(context, '99999')).resolves.toBeNull();
  });

  it.each(variants)('moves from every state to every other, with %j', async (variant) => {
    const { context } = await started({}, undefined, variant);
    const { id } = await ticketing.create(context, draft);
    for (const from of ticketStates)
      for (const to of ticketStates) {
        await ticketing.update(context, id, { state: from });
        const changed = await ticketing.update(context, id, { state: to, title: `From ${from} to ${to}` });
        expect(changed).toMatchObject({ state: to, title: `From ${from} to ${to}`, priority: 'high', dueDate: '2026-12-31' });
        expect(changed.stateName).not.toBe('');
        await expect(ticketing.read(context, id)).resolves.toMatchObject({ state: to });
      }
  });

  it('adds a comment to a ticket', async () => {
    const { fake, context } = await started();
    const { id } = await ticketing.create(context, draft);
    fake.requests.splice(0);
    await ticketing.comment(context, id, 'Closed by the scan of 15 November.\n\nSee the package.');
    const comments = fake.requests.filter(({ body }) => body.includes('Closed by the scan of 15 November'));
    expect(comments).toHaveLength(1);
    await expect(ticketing.comment(context, '99999', 'Hello')).rejects.toMatchObject({ kind: 'configuration' });
  });

  it('lists changes, oldest first, for every page size', async () => {
    const whole = await everything({ pageSize: 100 });
    expect(whole).toHaveLength(OURS);
    expect(isOrdered(whole)).toBe(true);
    for (const pageSize of [1, 3, 10]) {
      const paged = await everything({ pageSize });
      expect(paged.map(({ key }) => key).sort()).toEqual(whole.map(({ key }) => key).sort());
      expect(isOrdered(paged)).toBe(true);
    }
    const { context } = await started({ pageSize: 4 });
    const since = whole[12]?.updatedAt ?? new Date();
    const later = await pagesOf(ticketing.changedSince(context, since));
    expect(later.map(({ key }) => key).sort()).toEqual(
      whole
        .filter(({ updatedAt }) => updatedAt >= since)
        .map(({ key }) => key)
        .sort(),
    );
    await expect(pagesOf(ticketing.changedSince(context, new Date(Date.now() + 60_000)))).resolves.toEqual([]);
  });

  it('misses no ticket when one changes between two pages', async () => {
    const { context } = await started({ pageSize: 4 });
    const seen = new Map<string, Ticket>();
    for await (const page of ticketing.changedSince(context, new Date(0))) {
      for (const ticket of page) seen.set(ticket.key, ticket);
      const [first] = page;
      if (first && !first.title.startsWith('Changed')) await ticketing.update(context, first.id, { title: `Changed ${first.key}` });
    }
    expect(seen.size).toBe(OURS);
    const changed = await pagesOf(ticketing.changedSince(context, new Date(Date.now() - 3_600_000)));
    expect(changed.length).toBeGreaterThan(0);
    expect(changed.every(({ title }) => title.startsWith('Changed'))).toBe(true);
  });

  it('survives temporary failures and reports permanent ones', async () => {
    const undisturbed = (await everything()).map(({ key }) => key).sort();
    for (const fault of [
      { kind: 'status', at: 2, status: 429, headers: { 'retry-after': '7' }, for: 1 } as const,
      { kind: 'status', at: 2, status: 503, for: 2 } as const,
      { kind: 'truncated', at: 2, for: 1 } as const,
      { kind: 'dropped', at: 2, for: 1 } as const,
    ])
      expect((await everything({}, fault)).map(({ key }) => key).sort()).toEqual(undisturbed);
    await expect(everything({}, { kind: 'status', at: 2, status: 429 })).rejects.toMatchObject({ kind: 'rate_limited' });
    await expect(everything({}, { kind: 'status', at: 2, status: 500 })).rejects.toMatchObject({ kind: 'unavailable' });
    await expect(everything({}, { kind: 'truncated', at: 2 })).rejects.toMatchObject({ kind: 'invalid_answer' });
    await expect(everything({}, { kind: 'garbage', at: 2 })).rejects.toMatchObject({ kind: 'invalid_answer' });
    await expect(everything({}, { kind: 'redirect', at: 2, to: 'http://127.0.0.1:1/elsewhere' })).rejects.toMatchObject({ kind: 'configuration' });
    await expect(everything({ endless: true })).rejects.toMatchObject({ kind: 'incomplete' });
    await expect(everything({}, { kind: 'repeated', at: 2 })).rejects.toMatchObject({ kind: 'incomplete' });
  }, 30_000);

  it('reports refused credentials', async () => {
    const { fake } = await started();
    const refused = contextOf(ticketing, vendor.refused?.(fake.origin) as Settings);
    const isRefused = { kind: 'credentials' };
    await expect(ticketing.check(refused)).rejects.toMatchObject({ ...isRefused, message: expect.stringContaining(ticketing.permissions) });
    await expect(ticketing.find(refused, KEY)).rejects.toMatchObject(isRefused);
    await expect(ticketing.create(refused, draft)).rejects.toMatchObject(isRefused);
    await expect(ticketing.read(refused, '1')).rejects.toMatchObject(isRefused);
    await expect(ticketing.update(refused, '1', { title: 'x' })).rejects.toMatchObject(isRefused);
    await expect(ticketing.comment(refused, '1', 'x')).rejects.toMatchObject(isRefused);
    await expect(pagesOf(ticketing.changedSince(refused, new Date(0)))).rejects.toMatchObject(isRefused);
  });

  it('keeps secrets out of its records and tickets', async () => {
    const { context } = await started();
    const ticket = await ticketing.create(context, draft);
    await ticketing.find(context, KEY);
    await ticketing.update(context, ticket.id, { state: 'done' });
    const tickets = await allOf(context);
    const secrets = Object.entries(ticketing.credentials.properties).flatMap(([name, field]) =>
      'writeOnly' in field ? [String((context.credentials as Record<string, unknown>)[name])] : [],
    );
    expect(secrets.length).toBeGreaterThan(1);
    expect(context.records.length).toBeGreaterThan(3);
    for (const secret of secrets) expect(JSON.stringify([context.records, tickets])).not.toContain(secret);
  });

  it('keeps special characters and shortens texts that are too long for the vendor', async () => {
    const { context } = await started();
    const ticket = await ticketing.create(context, {
      ...draft,
      title: `${specialCharacters}\n\u0000end`,
      body: [specialCharacters, specialCharacters.repeat(900), '   ', ''],
    });
    expect(ticket.title).toBe(`${specialCharacters} end`);
    const long = await ticketing.update(context, ticket.id, { title: `${'漏'.repeat(100)}${'😀'.repeat(400)}`, body: [specialCharacters.repeat(900)] });
    expect(long.title).toMatch(/^漏{100}(😀)*…$/u);
    expect(long.title.isWellFormed()).toBe(true);
    await ticketing.comment(context, ticket.id, specialCharacters);
    expect((await ticketing.find(context, KEY))?.id).toBe(ticket.id);
  });

  it('captures the records of its own links only', async () => {
    const { fake, context } = await started();
    const ticket = await ticketing.create(context, draft);
    if (!ticketing.capture) throw new Error('every ticketing connector captures links');
    const capture = await ticketing.capture(context, ticket.url);
    expect(capture?.mediaType).toBe('application/json');
    expect(capture?.description).toContain(ticket.key);
    expect(capture?.description).toContain(draft.title);
    expect(JSON.stringify(JSON.parse(capture?.bytes.toString() ?? ''))).toContain(draft.title);
    fake.requests.splice(0);
    const elsewhere = ticket.url.replace(new URL(ticket.url).host, 'elsewhere.example');
    for (const url of [elsewhere, `https://user:pass@evil.example/?${ticket.url}`, 'https://example.com', fake.origin, 'mailto:a@b.c', 'not a link', ''])
      await expect(ticketing.capture(context, url), url).resolves.toBeNull();
    expect(fake.requests).toEqual([]);
  });
});
