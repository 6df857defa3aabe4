import { expect, test } from 'vitest';
import { fromBuffer } from '../../shared/input.ts';
import { readFixtures } from '../../testing/fixtures.ts';
import { readAll } from '../../testing/reading.ts';
import { tfsec } from './index.ts';

const fixtures = new Map(readFixtures('tfsec').map(({ name, bytes }) => [name, bytes]));
const read = (name: string) => readAll(tfsec, fromBuffer(fixtures.get(name) ?? '', name));

test('reads failed results of version 1, keeps ignored ones as suppressed and skips passed ones', async () => {
  const { observations, rejections } = await read('v1.json');
  expect(rejections).toEqual([]);
  expect(observations).toHaveLength(2);
  expect(observations[0]).toEqual({
    place: 'results[0]',
    tool: 'tfsec',
    rule: 'AVD-AWS-0107',
    external_id: null,
    title: 'An ingress security group rule allows traffic from /0.',
    description: 'Security group rule allows ingress from public internet.\n\nYour port exposed to the internet',
    solution: 'Set a more restrictive CIDR range',
    severity: 'critical',
    tool_severity: 'CRITICAL',
    vulnerability_ids: [],
    cwes: [],
    cvss: [],
    references: ['https://docs.example.com/checks/aws/ec2/no-public-ingress-sgr/'],
    asset: null,
    location: { path: 'infra/network.tf', line: 14, end_line: 14, resource: 'aws_security_group_rule.web' },
    present: true,
    suppressed: false,
    first_seen: null,
    last_seen: null,
    tags: ['aws', 'ec2', 'aws-ec2-no-public-ingress-sgr'],
  });
  expect(observations[1]).toMatchObject({ rule: 'AVD-AWS-0089', severity: 'medium', suppressed: true, location: { line: 3, end_line: 9 } });
});

test('reads results of older versions', async () => {
  const { observations } = await read('v0-legacy.json');
  expect(observations).toMatchObject([
    {
      rule: 'AWS009',
      severity: 'medium',
      tool_severity: 'WARNING',
      references: ['https://docs.example.com/aws/AWS009/'],
      location: { path: 'modules/vpc/main.tf', line: 31, end_line: 35 },
    },
  ]);
});

test('rejects malformed results and reads the rest', async () => {
  const { observations, rejections } = await read('malformed.json');
  expect(rejections).toEqual([
    { place: 'results[0]', reason: 'location.filename is missing' },
    { place: 'results[1]', reason: 'rule_id is missing' },
  ]);
  expect(observations).toMatchObject([{ rule: 'GCP002', severity: 'high', location: { path: 'main.tf', line: 7 } }]);
});

test('accepts a report without findings and rejects another file', async () => {
  expect(await read('empty.json')).toMatchObject({ observations: [], rejections: [] });
  await expect(readAll(tfsec, fromBuffer('{"results": [{"check_id": "x", "path": "a.py"}], "errors": []}'))).rejects.toThrow(/with rule_id and location/);
  await expect(readAll(tfsec, fromBuffer('<xml/>'))).rejects.toThrow(/Expected/);
});
