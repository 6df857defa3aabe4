import type { Asset, Observation } from '@rrs/scan-reports';
import { describe, expect, it } from 'vitest';
import { type ImportOptions, seen } from '../../testing/findings/imports.ts';
import { useImportsWithApi } from '../../testing/findings/imports-with-api.ts';

const service = useImportsWithApi();
const { get, scan, send } = service;
let count = 0;

interface Shown {
  title: string;
  status: string;
  severity: string;
  vulnerability_ids: string[];
}
type Which = 'one' | 'other';
type Said = Partial<Observation> & { version?: string; path?: string };
type Tool = NonNullable<ImportOptions['source']>;

/** Two findings of one tool. `one` is older. */
async function twoFindings(at?: string) {
  const [one, other] = [`CVE-2026-${90_000 + ++count}`, `CVE-2026-${90_000 + ++count}`] as const;
  const asset: Asset = { type: 'repository', name: `acme/records-${count}` };
  const ids = { one, other };
  const record = (which: Which, { version = '1.0.0', path = at, ...said }: Said = {}) =>
    seen({
      asset,
      vulnerability_ids: [ids[which]],
      title: which,
      severity: 'high',
      location: { component: which === 'one' ? 'lib' : 'lob', version, ...(path === undefined ? {} : { path }) },
      ...said,
    });
  const always = seen({ asset, vulnerability_ids: ['CVE-2020-0001'], location: { component: 'always' } });
  let day = 0;
  const report = (shown: { one?: Said; other?: Said }, tool: Tool = 'tool_a') =>
    scan(asset, [...(shown.one ? [record('one', shown.one)] : []), ...(shown.other ? [record('other', shown.other)] : []), always], ++day, tool);
  await report({ one: {} });
  await report({ one: {}, other: {} });
  const found = { one: (await service.finding(one)).id, other: (await service.finding(other)).id };
  const read = async (which: Which) => {
    const { title, status, vulnerability_ids } = await get<Shown>(`/findings/${found[which]}`);
    return { title, status, ids: vulnerability_ids };
  };
  return {
    report,
    decide: (which: Which, body: object) => send('PATCH', `/findings/${found[which]}`, body),
    merge: async () => expect(await send('POST', `/findings/${found.other}/merge`, { into: found.one, reason: 'one' })).toMatchObject({ status: 200 }),
    split: async () => expect(await send('POST', `/findings/${found.other}/split`, { reason: 'two' })).toMatchObject({ status: 200 }),
    both: async () => ({ one: await read('one'), other: await read('other') }),
    own: (which: Which, status: string) => ({ title: which, status, ids: [ids[which]] }),
  };
}

const CHANGES: [name: string, said: Said][] = [
  ['another version', { version: '1.1.0' }],
  ['another severity', { severity: 'medium' }],
  ['another description', { description: 'longer' }],
  ['an id of the tool', { external_id: 'X-1', severity: 'medium' }],
  ['the same as before', {}],
];

describe.each(CHANGES)('findings that were one while a report showed one of them with %s', (_name, said) => {
  it.each([
    ['one', 'other'],
    ['other', 'one'],
  ] as const)('are what reports show of each once they are split: %s is there, and %s is not', async (there, gone) => {
    const { report, merge, split, both, own } = await twoFindings();
    await merge();
    await report({ [there]: said });
    await split();
    expect((await both())[there]).toMatchObject({ status: 'open' });
    for (let days = 0; days < 2; days++) {
      await report({ [there]: said });
      expect(await both()).toEqual({ [there]: own(there, 'open'), [gone]: own(gone, 'verified') });
    }
  });

  it.each(['one', 'other'] as const)('are what each tool shows of them, if another tool reported %s first while they were one', async (there) => {
    const gone = there === 'one' ? 'other' : 'one';
    const { report, merge, split, both } = await twoFindings();
    await merge();
    await report({ [there]: said }, 'tool_b');
    await split();
    for (let days = 0; days < 2; days++) {
      await report({ [there]: said }, 'tool_b');
      await report({});
      expect(await both()).toMatchObject({ [there]: { status: 'open' }, [gone]: { status: 'verified' } });
    }
  });
});

it('a decision covers no place that a report showed first while the finding was one with an open one', async () => {
  const { report, merge, split, both, decide } = await twoFindings('p/lob');
  await decide('other', { status: 'false_positive', justification: 'code_not_reachable' });
  await merge();
  await report({ other: { path: 'q/lob' } });
  await split();
  for (let days = 0; days < 2; days++) {
    await report({ other: { path: 'q/lob' } });
    expect(await both()).toMatchObject({ one: { status: 'verified' }, other: { status: 'open' } });
  }
});

it('findings that a scan showed to be gone while they were one are gone once they are split', async () => {
  const { report, merge, split, both } = await twoFindings();
  await merge();
  await report({});
  expect(await both()).toMatchObject({ one: { status: 'verified' } });
  await split();
  expect(await both()).toMatchObject({ one: { status: 'verified' }, other: { status: 'verified' } });
  await report({ other: {} });
  expect(await both()).toMatchObject({ one: { status: 'verified' }, other: { status: 'open' } });
});
