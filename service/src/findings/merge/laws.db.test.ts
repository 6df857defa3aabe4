import type { Asset, Observation } from '@rrs/scan-reports';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Item, seen, useImports } from '../../testing/findings/imports.ts';
import { histories, LAW } from '../../testing/findings/laws.ts';
import type { ImportRow } from '../import/manage-imports.ts';

const engine = useImports();
const scope = { started_at: '2026-01-10T12:00:00Z' };

const assets: readonly Asset[] = [
  { type: 'container_image', name: 'registry.example.com/shop:1' },
  {
    type: 'host',
    name: 'web.example.com',
    identifiers: [
      { kind: 'fqdn', value: 'web.example.com' },
      { kind: 'ip', value: '10.0.0.1' },
    ],
  },
  { type: 'host', name: '10.0.0.1', identifiers: [{ kind: 'ip', value: '10.0.0.1' }] },
  { type: 'host', name: 'db.example.com', identifiers: [{ kind: 'fqdn', value: 'db.example.com' }] },
  { type: 'repository', name: 'https://git.example.com/shop' },
];

const ids = fc.constantFrom<string[][]>(
  ['CVE-2024-0001'],
  ['CVE-2024-0002', 'GHSA-aaaa-bbbb-cccc'],
  ['GHSA-aaaa-bbbb-cccc'],
  ['CVE-2024-0003'],
  ['CVE-2024-0003', 'CVE-2024-0004'],
  [],
);

/** Fields that may change without creating another finding. */
const said = fc.record({
  title: fc.string({ unit: 'binary', minLength: 1, maxLength: 12 }).map((text) => text.replaceAll('\0', '') || 'x'),
  description: fc.option(fc.constantFrom('It is bad.', 'It\tis\\bad\r\n"really"')),
  severity: fc.constantFrom('critical', 'high', 'medium', 'low', 'info', 'unknown'),
  suppressed: fc.boolean(),
  tags: fc.uniqueArray(fc.constantFrom('os', 'lib', 'Ärger', "it's"), { maxLength: 2 }),
  cwes: fc.uniqueArray(fc.constantFrom(79, 89, 787), { maxLength: 2 }),
  cvss: fc.constantFrom<Observation['cvss'][]>([], [{ vector: 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:N/A:N' }], [{ vector: 'nonsense' }]),
  first_seen: fc.option(fc.constantFrom(new Date('2025-06-01T00:00:00Z'), new Date('2026-01-09T00:00:00Z'))),
} as const);

const located = fc.record({
  asset: fc.constantFrom(...assets),
  vulnerability_ids: ids,
  component: fc.constantFrom('openssl', 'log4j-core'),
  line: fc.integer({ min: 1, max: 3 }),
});

const observed: fc.Arbitrary<Observation> = fc
  .tuple(said, located)
  .map(([words, { asset, vulnerability_ids, component, line }]) =>
    seen({ ...words, asset, vulnerability_ids, rule: `rule-${line}`, location: vulnerability_ids.length > 0 ? { component } : { path: 'src/a.ts', line } }),
  );
const rejection = fc.record({ place: fc.constantFrom('line 3', 'Results[0]\u0000'), reason: fc.constantFrom('id is missing', 'bad \ud800 text') });
const report: fc.Arbitrary<Item[]> = fc.array(fc.oneof({ weight: 6, arbitrary: observed }, { weight: 1, arbitrary: rejection }), { maxLength: 10 });
/** Findings that only one record is about, so that the order of records does not matter. */
const distinct = fc.uniqueArray(observed, {
  maxLength: 8,
  selector: ({ vulnerability_ids, asset, location, rule }) => {
    const known = vulnerability_ids.filter((id) => id !== 'CVE-2024-0002');
    return JSON.stringify([asset?.type, asset?.type === 'host' ? '' : asset?.name, known, known.length === 1 ? '' : rule, location]);
  },
});

const sum = ({ created, updated, unchanged, reopened, rejected }: ImportRow): number => created + updated + unchanged + reopened + rejected;

describe('invariants of imports', () => {
  it('importing a report twice writes nothing except the import', LAW, async () => {
    await fc.assert(
      fc.asyncProperty(report, async (items) => {
        const org = await engine.organization();
        await engine.run(org, items, { scope });
        const before = await engine.rowsOf(org);
        expect(await engine.run(org, items, { scope })).toMatchObject({ created: 0, updated: 0, reopened: 0, closed: 0 });
        expect(await engine.rowsOf(org)).toEqual(before);
        await engine.run(org, items, { scope: { ...scope, coverage: 'complete' } });
        expect(await engine.rowsOf(org)).toEqual(before);
      }),
      histories(5),
    );
  });

  it('the order of records does not matter', LAW, async () => {
    await fc.assert(
      fc.asyncProperty(
        report.chain((items) => fc.tuple(fc.constant(items), fc.shuffledSubarray(items, { minLength: items.length }))),
        async ([items, shuffled]) => {
          const [one, other] = [await engine.organization(), await engine.organization()];
          const { created } = await engine.run(one, items, { scope });
          expect(await engine.run(other, shuffled, { scope })).toMatchObject({ created });
          expect(await engine.stateOf(other)).toEqual(await engine.stateOf(one));
        },
      ),
      histories(5),
    );
  });

  it('every record is counted, for any sequence of reports', LAW, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(report, fc.boolean(), fc.constantFrom('tool_a', 'tool_b')), { maxLength: 4 }), async (reports) => {
        const org = await engine.organization();
        for (const [items, complete, source] of reports) {
          const row = await engine.run(org, items, { source, scope: { coverage: complete ? 'complete' : 'partial' } });
          const rejected = items.filter((item) => 'reason' in item).length;
          const status = rejected > 0 && rejected === items.length ? 'failed' : 'succeeded';
          expect(row).toMatchObject({ status, received: items.length, rejected });
          // What a complete run no longer shows can change as well, for example if another source now speaks alone.
          expect(complete ? Math.min(sum(row), row.received) : sum(row)).toBe(row.received);
          expect(row.unchanged + row.rejected).toBeLessThanOrEqual(row.received);
        }
      }),
      histories(5),
    );
  });

  it('a report split into two partial runs closes nothing and gives the same result', LAW, async () => {
    await fc.assert(
      fc.asyncProperty(distinct, fc.nat(), async (items, cut) => {
        const [whole, parts] = [await engine.organization(), await engine.organization()];
        const at = cut % (items.length + 1);
        await engine.run(whole, items, { scope });
        expect(await engine.run(parts, items.slice(0, at), { scope })).toMatchObject({ closed: 0 });
        expect(await engine.run(parts, items.slice(at), { scope })).toMatchObject({ closed: 0 });
        // A host that is first known by its address keeps that as its name.
        expect(await engine.stateOf(parts, { names: false })).toEqual(await engine.stateOf(whole, { names: false }));
      }),
      histories(5),
    );
  });

  it('parallel imports give the same result as consecutive ones', LAW, async () => {
    await fc.assert(
      fc.asyncProperty(report, report, async (first, second) => {
        const [together, forward, backward] = [await engine.organization(), await engine.organization(), await engine.organization()];
        await Promise.all([engine.run(together, first, { scope }), engine.run(together, second, { scope, source: 'tool_b' })]);
        await engine.run(forward, first, { scope });
        await engine.run(forward, second, { scope, source: 'tool_b' });
        await engine.run(backward, second, { scope, source: 'tool_b' });
        await engine.run(backward, first, { scope });
        expect([await engine.stateOf(forward), await engine.stateOf(backward)]).toContainEqual(await engine.stateOf(together));
      }),
      histories(3),
    );
  });

  it('partial imports do not change what a person decided', async () => {
    const decided = `status, status_reason, acceptance_owner, acceptance_expires_at, compensating_control, justification, severity, severity_override, severity_override_reason, tags`;
    await fc.assert(
      fc.asyncProperty(report, fc.array(report, { maxLength: 3 }), async (items, later) => {
        const org = await engine.organization();
        await engine.run(org, items, { scope });
        await engine.admin().query(DECISIONS, [org]);
        await engine.admin().query(HISTORY, [org]);
        const read = async () =>
          (await engine.admin().query(`select ${decided} from findings where org_id = $1 and 'mine' = any(tags) order by id`, [org])).rows;
        const before = await read();
        for (const other of later) await engine.run(org, other);
        expect(await read()).toEqual(before);
      }),
      histories(5),
    );
  });

  it("another organization's state never changes", LAW, async () => {
    await fc.assert(
      fc.asyncProperty(report, report, async (theirs, ours) => {
        const [them, us] = [await engine.organization(), await engine.organization()];
        await engine.run(them, theirs, { scope });
        const before = await engine.rowsOf(them);
        await engine.run(us, ours, { scope: { ...scope, coverage: 'complete' } });
        await engine.run(us, [], { scope: { coverage: 'complete', assets: [...assets] } });
        expect(await engine.rowsOf(them)).toEqual(before);
      }),
      histories(3),
    );
  });

  it('the staging tables are empty afterwards', async () => {
    for (const table of ['import_rows', 'import_assets', 'import_groups']) {
      expect((await engine.admin().query(`select count(*)::int as count from ${table}`)).rows).toEqual([{ count: 0 }]);
    }
  });
});

const DECISIONS = `
  update findings set tags = '{mine}', severity = 1, severity_override = 1, severity_override_reason = 'behind a firewall', closed_at = now(), status_reason = 'because',
    status = case when identity_key > '\\x80' then 'risk_accepted' else 'false_positive' end, justification = case when identity_key > '\\x80' then null else 'code_not_reachable' end,
    acceptance_owner = case when identity_key > '\\x80' then 'Ada' end, acceptance_expires_at = case when identity_key > '\\x80' then now() + interval '1 day' end,
    compensating_control = case when identity_key > '\\x80' then 'a firewall' end
  where org_id = $1`;
const HISTORY = `
  insert into finding_history (org_id, finding_id, id, actor_type, actor_name, action, after)
  select org_id, id, new_id(), 'member', 'Ada', 'updated', '{"tags": ["mine"]}' from findings where org_id = $1`;
