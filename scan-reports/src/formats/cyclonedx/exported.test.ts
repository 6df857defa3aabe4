import { expect, test } from 'vitest';
import { fromBuffer } from '../../shared/input.ts';
import { readAll } from '../../testing/reading.ts';
import { cyclonedx } from './index.ts';

const details = {
  status: 'false_positive',
  weakness: 'semgrep:python.lang.eval',
  asset_type: 'repository',
  asset_name: 'https://git.example.com/shop',
  path: 'src/a.py',
  line: '7',
  fingerprint: 'abc',
  source: 'semgrep',
  tag: 'payments',
  last_seen: '2026-11-01T00:00:00.000Z',
  justification: 'code_not_reachable',
};
const read = (properties: object) => {
  const vulnerability = {
    'bom-ref': '0199a000-0000-7000-8000-000000000001',
    id: 'semgrep:python.lang.eval',
    ratings: [{ severity: 'medium' }],
    cwes: [95],
    description: 'Use of eval',
    detail: 'Code is run.',
    recommendation: 'Do not use eval.',
    advisories: [{ url: 'https://example.com/eval' }],
    created: '2026-10-01T00:00:00.000Z',
    analysis: { state: 'not_affected', justification: 'code_not_reachable', detail: 'Dead code' },
    affects: [{ ref: '0199a000-0000-7000-8000-0000000000aa' }],
    properties: Object.entries(properties).map(([name, value]) => ({ name: `rrs:${name}`, value })),
  };
  const bom = { bomFormat: 'CycloneDX', specVersion: '1.6', vulnerabilities: [vulnerability] };
  return readAll(cyclonedx, fromBuffer(JSON.stringify(bom)));
};

test('reads the finding that this service exported', async () => {
  expect((await read(details)).observations).toMatchObject([
    {
      tool: 'semgrep',
      rule: 'python.lang.eval',
      vulnerability_ids: [],
      external_id: '0199a000-0000-7000-8000-000000000001',
      title: 'Use of eval',
      description: 'Code is run.',
      solution: 'Do not use eval.',
      references: ['https://example.com/eval'],
      severity: 'medium',
      cwes: [95],
      asset: { type: 'repository', name: 'https://git.example.com/shop' },
      location: { path: 'src/a.py', line: 7, fingerprint: 'abc' },
      tags: ['payments'],
      present: true,
      suppressed: true,
      analysis: { state: 'not_affected', justification: 'code_not_reachable', detail: 'Dead code' },
      last_seen: new Date('2026-11-01T00:00:00Z'),
    },
  ]);
});

test('reads a vulnerability without the properties of an export as usual', async () => {
  expect((await read({ status: 'open' })).observations).toMatchObject([{ tool: 'cyclonedx', rule: 'semgrep:python.lang.eval' }]);
});
