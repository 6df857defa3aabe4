import type { Asset, Observation } from '@rrs/scan-reports';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ImportOptions, seen, useImports } from '../../testing/findings/imports.ts';
import { histories, LAW } from '../../testing/findings/laws.ts';
import { OTHER_ORDERS } from '../../testing/findings/orders.ts';

const engine = useImports();

const repository: Asset = { type: 'repository', name: 'https://git.example.com/shop' };
const tools = ['tool_a', 'tool_b', 'tool_c'] as const;
const vectors = ['CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:N/A:N', 'CVSS:3.0/AV:N/AC:L/PR:N/UI:N/S:C/C:H/I:H/A:H', 'AV:N/AC:L/Au:N/C:C/I:C/A:C'];

/** What tools say differently about the same finding. */
const statement = fc.record({
  title: fc.constantFrom('Remote code execution', 'RCE in lib', 'lib: unsafe lookup', 'CVE-2024-0001 in openssl', 'CVE-2024-0002'),
  description: fc.option(fc.constantFrom('It is bad.', 'It is very bad.')),
  severity: fc.constantFrom('critical', 'high', 'medium', 'low', 'info', 'unknown'),
  severity_source: fc.constantFrom('nvd', 'debian', undefined),
  cwes: fc.uniqueArray(fc.constantFrom(79, 89, 502), { maxLength: 2 }),
  cvss: fc.constantFrom<Observation['cvss'][]>([], ...vectors.map((vector) => [{ vector }]), [{ score: 7.5 }], [{ score: 9.1, version: '3.1' }]),
  tags: fc.uniqueArray(fc.constantFrom('os', 'lib'), { maxLength: 2 }),
  suppressed: fc.constantFrom(false, false, true),
  fix_state: fc.constantFrom('available', 'will_not_fix', undefined),
  fix_published_date: fc.constantFrom('2025-11-30', '2025-12-01', undefined),
  exploit_maturity: fc.constantFrom('proof_of_concept', 'functional', undefined),
  epss: fc.constantFrom({ score: 0.5, date: '2026-01-01' }, { score: 0.2, date: '2026-01-02' }, undefined),
} as const);

const observed: fc.Arbitrary<Observation> = fc
  .record({
    said: statement,
    component: fc.constantFrom('openssl', 'log4j-core'),
    ids: fc.constantFrom<string[][]>(['CVE-2024-0001'], ['CVE-2024-0002', 'GHSA-aaaa-bbbb-cccc']),
    version: fc.constantFrom('1.0', '1.1', undefined),
    path: fc.constantFrom('a/lib.jar', 'b/lib.jar', undefined),
  })
  .map(({ said: { fix_state, fix_published_date, exploit_maturity, epss, severity_source, ...said }, component, ids, version, path }) =>
    seen({
      ...said,
      ...(fix_state ? { fix_state } : {}),
      ...(fix_published_date ? { fix_published_date } : {}),
      ...(exploit_maturity ? { exploit_maturity } : {}),
      ...(epss ? { epss } : {}),
      ...(severity_source ? { severity_source } : {}),
      asset: repository,
      vulnerability_ids: ids,
      location: { component, ...(version ? { version } : {}), ...(path ? { path } : {}) },
    }),
  );

/** One record per finding, so that a report is one statement about each. */
const items = fc.uniqueArray(observed, { maxLength: 4, selector: ({ vulnerability_ids, location }) => `${vulnerability_ids[0]} ${location.component}` });

interface Report {
  tool: (typeof tools)[number];
  track: string | undefined;
  complete: boolean;
  items: Observation[];
}

const reports = fc.array(
  fc.record({
    tool: fc.constantFrom(...tools),
    track: fc.constantFrom(undefined, 'staging'),
    complete: fc.boolean(),
    items,
  }) as fc.Arbitrary<Report>,
  { minLength: 2, maxLength: 5 },
);

function optionsOf({ tool, track, complete }: Report, day: number): ImportOptions {
  const scope: NonNullable<ImportOptions['scope']> = {
    asset: { type: repository.type, name: repository.name },
    coverage: complete ? 'complete' : 'partial',
    started_at: new Date(Date.UTC(2026, 0, 1 + day, 12)).toISOString(),
    ...(track === undefined ? {} : { track }),
  };
  return { source: tool, scope };
}

describe('the order of imports does not matter', () => {
  it('for dated reports of several tools on several tracks', LAW, async () => {
    await fc.assert(
      fc.asyncProperty(
        reports.chain((all) => fc.tuple(fc.constant(all), fc.shuffledSubarray([...all.keys()], { minLength: all.length }))),
        async ([all, order]) => {
          const [forward, shuffled] = [await engine.organization(), await engine.organization()];
          for (const [day, report] of all.entries()) await engine.run(forward, report.items, optionsOf(report, day));
          for (const day of order) {
            const report = all[day] as Report;
            await engine.run(shuffled, report.items, optionsOf(report, day));
          }
          expect(await engine.stateOf(shuffled, { lawful: true })).toEqual(await engine.stateOf(forward, { lawful: true }));
        },
      ),
      histories(4),
    );
  });
});

it('a fix is one although another tool, on another track, still finds the fixed version of the component, in every order', async () => {
  const on = (cve: string, version: string, severity: Observation['severity'] = 'low') =>
    seen({ asset: repository, vulnerability_ids: [cve], severity, location: { component: 'openssl', version } });
  const all: Report[] = [
    { tool: 'tool_b', track: undefined, complete: false, items: [on('CVE-2024-0002', '1.1'), on('CVE-2024-0001', '1.0')] },
    { tool: 'tool_b', track: undefined, complete: true, items: [on('CVE-2024-0001', '1.0')] },
    { tool: 'tool_c', track: 'staging', complete: true, items: [on('CVE-2024-0001', '1.1', 'critical')] },
  ];
  const statuses = [];
  for (const order of [
    [0, 1, 2],
    [2, 0, 1],
    [0, 2, 1],
    [2, 1, 0],
  ]) {
    const org = await engine.organization();
    for (const day of order) {
      const report = all[day] as Report;
      await engine.run(org, report.items, optionsOf(report, day));
    }
    const { rows } = await engine.admin().query('select weakness, status from findings where org_id = $1 order by weakness', [org]);
    statuses.push(rows);
  }
  const fixed = [
    { weakness: 'CVE-2024-0001', status: 'open' },
    { weakness: 'CVE-2024-0002', status: 'verified' },
  ];
  expect(statuses).toEqual([fixed, fixed, fixed, fixed]);
});

describe('the order of reports about hosts does not matter', () => {
  const identifiers = { ip: '192.0.2.10', fqdn: 'web.example.com', mac: '00:00:5e:00:53:01' } as const;
  type Kind = keyof typeof identifiers;
  type Named = Partial<Record<Kind, string>>;
  const hostKnownBy = (kinds: readonly Kind[]): Named => Object.fromEntries(kinds.map((kind) => [kind, identifiers[kind]]));
  const hostOf = (named: Named): Asset => ({
    type: 'host',
    name: named.fqdn ?? named.ip ?? named.mac ?? '',
    identifiers: Object.entries(named).map(([kind, value]) => ({ kind: kind as Kind, value })),
  });
  const check = (named: Named, rule: string): Observation => seen({ asset: hostOf(named), rule, location: { port: 443, protocol: 'tcp' } });
  const knownBy = fc.subarray<Kind>(['ip', 'fqdn', 'mac'], { minLength: 1 }).map(hostKnownBy);
  /** Another host that has the address before or after it. */
  const other = fc.constantFrom<Named[]>({ fqdn: 'mail.example.com' }, { ip: identifiers.ip, fqdn: 'mail.example.com' });
  const report = fc.array(fc.tuple(fc.oneof({ weight: 3, arbitrary: knownBy }, { weight: 1, arbitrary: other }), fc.constantFrom('a', 'b', 'c')), {
    minLength: 1,
    maxLength: 2,
  });
  const send = async (org: string, all: readonly (readonly [Named, string][])[], day: number): Promise<void> => {
    const items = (all[day] ?? []).map(([named, rule]) => check(named, rule));
    await engine.run(org, items, { source: tools[day] ?? 'tool_a', scope: { started_at: `2026-01-0${day + 1}T12:00:00Z` } });
  };

  it('if three reports know one host by its name, address or hardware address, and another one had the address', LAW, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(report, { minLength: 3, maxLength: 3 }), fc.constantFrom(...OTHER_ORDERS), async (all, order) => {
        const [forward, shuffled] = [await engine.organization(), await engine.organization()];
        for (const day of all.keys()) await send(forward, all, day);
        for (const day of order) await send(shuffled, all, day);
        expect(await engine.stateOf(shuffled, { lawful: true })).toEqual(await engine.stateOf(forward, { lawful: true }));
      }),
      histories(4),
    );
  });

  it('if only an address links a name with a hardware address: an address does not make two hosts one', async () => {
    const reports = [['ip', 'fqdn'], ['ip', 'mac'], ['ip']].map((kinds) => [[hostKnownBy(kinds as Kind[]), 'a']] as [Named, string][]);
    const states = [];
    for (const order of [[0, 1, 2], ...OTHER_ORDERS]) {
      const org = await engine.organization();
      for (const day of order) await send(org, reports, day);
      states.push(await engine.stateOf(org, { lawful: true }));
    }
    expect(states[0]?.findings).toHaveLength(3);
    for (const state of states) expect(state).toEqual(states[0]);
  });
});

describe('the order of reports does not matter if names leave something out', () => {
  const host = (name: string, ...identifiers: [kind: 'fqdn' | 'hostname' | 'mac' | 'ip' | 'agent_id', value: string][]): Asset => ({
    type: 'host',
    name,
    identifiers: identifiers.map(([kind, value]) => ({ kind, value })),
  });
  const code = (name: string): Asset => ({ type: 'repository', name });
  const [one, other] = ['00:00:5e:00:53:01', '00:00:5e:00:53:02'];
  const NAMES = {
    hosts: [
      host('web1'),
      host('web1', ['hostname', 'web1'], ['ip', '192.0.2.10']),
      host('web1.a.example', ['fqdn', 'web1.a.example'], ['hostname', 'web1']),
      host('web1.b.example', ['fqdn', 'web1.b.example'], ['hostname', 'web1']),
      host('web1', ['hostname', 'web1'], ['mac', one]),
      host('web1', ['hostname', 'web1'], ['mac', other]),
    ],
    repositories: [
      code('shop/api'),
      code('/builds/shop/api'),
      code('https://github.example/shop/api'),
      code('git@gitlab.example:shop/api.git'),
      code('/home/runner/work/api/api'),
      code('other/api'),
    ],
    'machines with one name': [
      host('web1.a.example', ['fqdn', 'web1.a.example'], ['mac', one]),
      host('web1.a.example', ['fqdn', 'web1.a.example'], ['mac', other]),
      host('192.0.2.10', ['fqdn', 'web1.a.example'], ['agent_id', 'a'], ['mac', one]),
      host('192.0.2.10', ['ip', '192.0.2.10'], ['mac', other]),
      host('localhost', ['fqdn', 'localhost'], ['mac', one]),
      host('localhost', ['hostname', 'localhost'], ['ip', '192.0.2.10']),
      host('localhost', ['hostname', 'localhost'], ['ip', '192.0.2.11']),
    ],
  } satisfies Record<string, Asset[]>;

  it.each(Object.entries(NAMES))('of %s', LAW, async (_, names) => {
    const items = fc.uniqueArray(fc.tuple(fc.constantFrom(...names), fc.constantFrom('a', 'b')), { maxLength: 3 });
    const report = fc.record({ items, tool: fc.constantFrom(...tools), complete: fc.boolean() });
    type Named = typeof report extends fc.Arbitrary<infer T> ? T : never;
    const send = async (org: string, all: readonly Named[], day: number) => {
      const { items, tool, complete } = all[day] as Named;
      const scope = { coverage: complete ? ('complete' as const) : ('partial' as const), started_at: `2026-01-0${day + 1}T12:00:00Z` };
      await engine.run(
        org,
        items.map(([asset, rule]) => seen({ asset, rule, location: { port: 443, protocol: 'tcp' } })),
        { source: tool, scope },
      );
    };
    await fc.assert(
      fc.asyncProperty(fc.array(report, { minLength: 4, maxLength: 4 }), fc.shuffledSubarray([0, 1, 2, 3], { minLength: 4 }), async (all, order) => {
        const [forward, shuffled] = [await engine.organization(), await engine.organization()];
        for (const day of all.keys()) await send(forward, all, day);
        for (const day of order) await send(shuffled, all, day);
        expect(await engine.stateOf(shuffled, { lawful: true })).toEqual(await engine.stateOf(forward, { lawful: true }));
      }),
      histories(4),
    );
  });
});

describe('what a newer scan does not show is the same if the older report arrives late', () => {
  const commit = (digit: string): Asset => ({ ...repository, commit: digit.repeat(40), ref: 'main' });
  const inLodash = (asset: Asset, id = 'CVE-2024-0001') =>
    seen({ asset, vulnerability_ids: [id], location: { component: 'lodash', version: '4.17.15', ecosystem: 'npm' } });
  const at = (day: number): ImportOptions => ({ scope: { coverage: 'complete', started_at: `2026-01-0${day}T00:00:00Z` } });

  it.each([
    ['retracted, if the scan still reports the component in the same version', inLodash(commit('b'), 'CVE-2024-0002'), 'withdrawn'],
    ['retracted, if the scan is of the same commit', seen({ asset: commit('a'), location: { component: 'other' } }), 'withdrawn'],
    ['gone otherwise', seen({ asset: commit('b'), location: { component: 'other' } }), 'verified'],
  ] as const)('%s', async (_name, newer, status) => {
    const [forward, late] = [await engine.organization(), await engine.organization()];
    const older = inLodash(commit('a'));
    await engine.run(forward, [older], at(1));
    await engine.run(forward, [newer], at(2));
    await engine.run(late, [newer], at(2));
    await engine.run(late, [older], at(1));
    expect((await engine.findings(forward)).find(({ weakness, location }) => weakness === 'CVE-2024-0001' && location.component === 'lodash')).toMatchObject({
      status,
    });
    expect(await engine.stateOf(late, { lawful: true })).toEqual(await engine.stateOf(forward, { lawful: true }));
  });
});

describe('an older report that says the same moves when a finding was first seen', () => {
  const placesOf = async (org: string) =>
    (await engine.admin().query('select label, state, first_seen, last_seen from occurrences where org_id = $1 order by label', [org])).rows;
  const page = (path: string) => seen({ asset: repository, rule: 'xss', location: { url: `https://shop.example.com${path}` } });

  it.each([
    ['if its scan was earlier', [seen({ asset: repository })], [seen({ asset: repository })]],
    [
      'if it states an earlier time',
      [seen({ asset: repository, first_seen: new Date('2025-05-05') })],
      [seen({ asset: repository, first_seen: new Date('2025-06-06') })],
    ],
    ['at several places', [page('/a'), page('/b')], [page('/a'), page('/b')]],
  ])('%s', async (_name, older, newer) => {
    const [forward, late] = [await engine.organization(), await engine.organization()];
    const at = (day: number): ImportOptions => ({ scope: { started_at: `2026-01-0${day}T00:00:00Z` } });
    await engine.run(forward, older, at(1));
    await engine.run(forward, newer, at(3));
    await engine.run(late, newer, at(3));
    await engine.run(late, older, at(1));
    expect(await engine.stateOf(late, { lawful: true })).toEqual(await engine.stateOf(forward, { lawful: true }));
    expect(await placesOf(late)).toEqual(await placesOf(forward));
  });
});

describe('a finding is merged from what all sources say', () => {
  const purl = 'pkg:maven/org.apache.logging.log4j/log4j-core@2.14.1';
  const log4shell = (given: Partial<Observation>) =>
    seen({ asset: repository, vulnerability_ids: ['CVE-2021-44228'], location: { component: 'log4j-core', purl }, ...given });
  const trivy = log4shell({
    severity: 'critical',
    title: 'log4j: remote code execution',
    cvss: [{ vector: 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:C/C:H/I:H/A:H' }],
    cwes: [502],
    vulnerability_ids: ['CVE-2021-44228', 'GHSA-jfh8-c2jp-5v3q'],
    location: { component: 'log4j-core', version: '2.14.1', fixed_version: '2.17.1', purl },
    references: ['https://logging.apache.org/security.html'],
    description: 'JNDI features …',
  });

  it('a milder source with less to say takes nothing away', async () => {
    const org = await engine.organization();
    const read = async () => (await engine.admin().query('select * from findings where org_id = $1', [org])).rows;
    await engine.run(org, [trivy], { source: 'tool_a', scope: { started_at: '2026-01-01T00:00:00Z' } });
    const [before] = await read();
    await engine.run(org, [log4shell({ severity: 'low', cwes: [20] })], { source: 'tool_b', scope: { started_at: '2026-01-02T00:00:00Z' } });
    await engine.run(org, [log4shell({ severity: 'info' })], { source: 'tool_c', scope: { started_at: '2026-01-03T00:00:00Z' } });
    const [after, second] = await read();
    expect(second).toBeUndefined();
    for (const column of ['title', 'severity', 'risk_score', 'due_at', 'cvss_score', 'cvss_vector', 'vulnerability_ids', 'text_id'])
      expect(after[column]).toEqual(before[column]);
    expect(after).toMatchObject({ cwes: [20, 502], severity_disputed: true, location: trivy.location });
  });

  it.each([
    ['id and component', 'GHSA-jfh8-c2jp-5v3q in log4j-core', {}],
    ['id and a longer name of the component', 'CVE-2021-44228 in org.apache.logging.log4j:log4j-core', {}],
    ['id alone', 'CVE-2021-44228', {}],
    ['rule', 'java-log4j', { rule: 'java-log4j' }],
    ['number of a check', 'Plugin 155999', {}],
  ])('a title that was made up because a report has none does not replace one of a report (%s)', async (_name, title, given) => {
    const [forward, backward] = [await engine.organization(), await engine.organization()];
    const at = (day: number) => ({
      started_at: `2026-01-0${day}T00:00:00Z`,
      coverage: 'complete' as const,
      asset: { type: repository.type, name: repository.name },
    });
    const madeUp = log4shell({ severity: 'critical', title, vulnerability_ids: ['CVE-2021-44228', 'GHSA-jfh8-c2jp-5v3q'], ...given });
    const milder = { ...trivy, severity: 'high' as const };
    const steps = [() => ({ items: [milder], source: 'tool_a' as const, scope: at(1) }), () => ({ items: [madeUp], source: 'tool_b' as const, scope: at(2) })];
    for (const step of steps) await engine.run(forward, step().items, step());
    for (const step of steps.toReversed()) await engine.run(backward, step().items, step());
    expect(await engine.findings(forward)).toMatchObject([{ severity: 5, title: trivy.title }]);
    expect(await engine.stateOf(backward, { lawful: true })).toEqual(await engine.stateOf(forward, { lawful: true }));
    // The only source that still sees it has no title for it.
    await engine.run(forward, [], { source: 'tool_a', scope: at(3) });
    expect(await engine.findings(forward)).toMatchObject([{ status: 'open', title: trivy.title }]);
  });

  it('a fix is available since the earliest day that a source which still sees the finding states', async () => {
    const org = await engine.organization();
    const at = (day: number) => ({
      started_at: `2026-01-0${day}T00:00:00Z`,
      coverage: 'complete' as const,
      asset: { type: repository.type, name: repository.name },
    });
    const days = async () => (await engine.admin().query('select fix_published_date as day from findings where org_id = $1', [org])).rows;
    const report = (source: Report['tool'], day: number, ...items: Observation[]) => engine.run(org, items, { source, scope: at(day) });
    await report('tool_a', 1, log4shell({ fix_published_date: '2021-12-28' }));
    await report('tool_b', 2, log4shell({ severity: 'critical', fix_published_date: '2021-12-10' }));
    await report('tool_c', 3, log4shell({ severity: 'critical' }));
    expect(await days()).toEqual([{ day: '2021-12-10' }]);
    await report('tool_b', 4);
    expect(await days()).toEqual([{ day: '2021-12-28' }]);
    await report('tool_a', 5, log4shell({ fix_published_date: '2999-01-01' }));
    expect(await days()).toEqual([{ day: null }]);
    await report('tool_a', 6);
    await report('tool_c', 7);
    // Nothing sees it any more: what all of them said is shown again.
    expect(await days()).toEqual([{ day: '2021-12-10' }]);
  });

  it('the rest remains when the source with most to say no longer sees it', async () => {
    const org = await engine.organization();
    const at = (day: number, coverage: 'complete' | 'partial' = 'partial') => ({
      started_at: `2026-01-0${day}T00:00:00Z`,
      coverage,
      asset: { type: repository.type, name: repository.name },
    });
    await engine.run(org, [trivy], { source: 'tool_a', scope: at(1) });
    await engine.run(org, [log4shell({ severity: 'low', title: 'low' })], { source: 'tool_b', scope: at(2) });
    const deadline = async () => (await engine.admin().query<{ due_at: Date }>('select due_at from findings where org_id = $1', [org])).rows;
    const before = await deadline();
    await engine.run(org, [], { source: 'tool_a', scope: at(3, 'complete') });
    expect(await engine.findings(org)).toMatchObject([{ status: 'open', severity: 2, title: 'low' }]);
    expect(await deadline()).toEqual(before);
    await engine.run(org, [], { source: 'tool_b', scope: at(4, 'complete') });
    // Nothing sees it any more: what all of them said is shown again.
    expect(await engine.findings(org)).toMatchObject([{ status: 'verified', severity: 5, title: trivy.title }]);
  });
});
