import { afterEach, describe, expect, it } from 'vitest';
import type { Enrichment, Json } from '../../core/contract.ts';
import { connectors } from '../../registry.ts';
import { type RunningFake, serveFake } from '../../testing/fake-server.ts';
import { contextOf, learn } from '../../testing/host.ts';
import { cisaKevFake } from './fake.ts';

const kev = connectors.find(({ id }) => id === 'cisa_kev') as Enrichment;
const running: RunningFake[] = [];
afterEach(async () => {
  for (const fake of running.splice(0)) await fake.close();
});

const entries = (count: number): Json[] =>
  Array.from({ length: count }, (_, n) => ({ cveID: `CVE-2025-${10_000 + n}`, dueDate: '2026-12-01', cwes: ['CWE-59', 'CWE-78'] }));
const catalog = (vulnerabilities: Json[], more: Record<string, Json> = {}): Json => ({
  catalogVersion: '2026.11.14',
  dateReleased: '2026-11-14T17:04:19.9796Z',
  count: vulnerabilities.length,
  vulnerabilities,
  ...more,
});

async function read(body: Json, { cursor = null as Json, checkpoint = null as Json } = {}) {
  const fake = await serveFake({ ...cisaKevFake, answer: () => () => ({ body }) }, { pageSize: 10 });
  running.push(fake);
  return learn(kev, { ...contextOf(kev, cisaKevFake.settings(fake.origin)), cursor, checkpoint }, { ids: [], pageSize: 10 });
}

describe('the KEV catalog', () => {
  it('is complete, with due dates and its version', async () => {
    const run = await read(catalog(entries(2)));
    expect(run.items[0]).toEqual({ id: 'CVE-2025-10000', cwes: [59, 78], kev: { listed: true, dueDate: '2026-12-01', version: '2026.11.14' } });
    expect(run).toMatchObject({ complete: 'kev', asOf: '2026.11.14', cursor: { version: '2026.11.14', count: 2 } });
  });

  it.each([
    ['has fewer entries than its count', catalog(entries(10), { count: 11 })],
    ['has more entries than its count', catalog(entries(10), { count: 9 })],
    ['is empty', catalog([])],
  ])('is refused when it %s', async (_, body) => {
    await expect(read(body)).rejects.toMatchObject({ kind: 'incomplete' });
  });

  it('is refused when it lost more than 5 % of its entries or is an old copy', async () => {
    const before = { version: '2026.11.13', released: '2026-11-13T17:00:00Z', count: 100 };
    await expect(read(catalog(entries(94)), { cursor: before })).rejects.toMatchObject({ kind: 'incomplete', message: expect.stringContaining('94') });
    expect(await read(catalog(entries(96)), { cursor: before })).toMatchObject({ complete: 'kev' });
    const later = { version: '2026.11.15', released: '2026-11-15T17:00:00Z', count: 100 };
    await expect(read(catalog(entries(100)), { cursor: later })).rejects.toMatchObject({
      kind: 'incomplete',
      message: expect.stringContaining('2026.11.15'),
    });
  });

  it('is not complete when an entry cannot be read', async () => {
    const run = await read(catalog([...entries(30), { cveID: 'CVE-no' }]));
    expect(run.items).toHaveLength(30);
    expect(run.rejected).toEqual([{ place: 'vulnerabilities[30]', reason: 'cveID is not a CVE id' }]);
    expect(run.complete).toBeUndefined();
  });

  it('keeps an entry without a due date', async () => {
    const run = await read(catalog([{ cveID: 'CVE-2025-10000', dueDate: 'soon' }]));
    expect(run.items).toEqual([{ id: 'CVE-2025-10000', kev: { listed: true, dueDate: null, version: '2026.11.14' } }]);
    expect(run.complete).toBe('kev');
  });

  it('is read from the start when a new version appears after an interruption', async () => {
    const first = await read(catalog(entries(30)));
    const next = await read(catalog(entries(31), { catalogVersion: '2026.11.15', dateReleased: '2026-11-15T17:00:00Z' }), {
      checkpoint: first.checkpoints[0] ?? null,
    });
    expect(next.items).toHaveLength(31);
    expect(next.asOf).toBe('2026.11.15');
  });
});
