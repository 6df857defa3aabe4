import { expect, test } from 'vitest';
import { fromBuffer } from '../../shared/input.ts';
import { readAll } from '../../testing/reading.ts';
import { sarif } from './index.ts';

const result = {
  ruleId: 'nessus:42873',
  kind: 'fail',
  message: { text: 'Weak cipher suites' },
  locations: [{ logicalLocations: [{ name: 'web1.example.com', fullyQualifiedName: 'web1.example.com' }] }],
  fingerprints: { 'rrs/v1': '1' },
  provenance: { firstDetectionTimeUtc: '2026-10-01T00:00:00.000Z', lastDetectionTimeUtc: '2026-11-01T00:00:00.000Z' },
  properties: {
    id: '1',
    status: 'open',
    severity: 'critical',
    cwes: ['CWE-327'],
    asset: { type: 'host', name: 'web1.example.com' },
    weakness: 'nessus:42873',
    location: { port: 443, protocol: 'tcp', path: null },
    solution: 'Disable them.',
  },
};
const read = (change: object, tool = 'Remediation Risk Service') =>
  readAll(sarif, fromBuffer(JSON.stringify({ version: '2.1.0', runs: [{ tool: { driver: { name: tool } }, results: [{ ...result, ...change }] }] })));

test('reads the finding that this service exported', async () => {
  expect((await read({})).observations).toMatchObject([
    {
      tool: 'nessus',
      rule: '42873',
      title: 'Weak cipher suites',
      severity: 'critical',
      cwes: [327],
      solution: 'Disable them.',
      asset: { type: 'host', name: 'web1.example.com' },
      location: { port: 443, protocol: 'tcp' },
      first_seen: new Date('2026-10-01T00:00:00Z'),
      present: true,
    },
  ]);
});

test('reads a finding that was verified as gone', async () => {
  expect((await read({ kind: 'pass', properties: { ...result.properties, status: 'verified' } })).observations).toMatchObject([{ present: false }]);
});

test('reads results of other tools as usual, even if their properties look alike', async () => {
  expect((await read({}, 'Other')).observations).toMatchObject([{ tool: 'other', rule: 'nessus:42873', asset: null }]);
  expect((await read({ properties: {} })).observations).toMatchObject([{ tool: 'remediation risk service', severity: 'medium' }]);
});
