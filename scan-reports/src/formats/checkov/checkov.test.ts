import { expect, test } from 'vitest';
import { fromBuffer } from '../../shared/input.ts';
import { readFixtures } from '../../testing/fixtures.ts';
import { readAll } from '../../testing/reading.ts';
import { checkov } from './index.ts';

const fixtures = new Map(readFixtures('checkov').map(({ name, bytes }) => [name, bytes]));
const read = (name: string) => readAll(checkov, fromBuffer(fixtures.get(name) ?? '', name));

test('reads the failed checks of one kind of file', async () => {
  const { observations, rejections } = await read('one-type.json');
  expect(rejections).toEqual([]);
  expect(observations).toHaveLength(2);
  expect(observations[0]).toEqual({
    place: 'results.failed_checks[0]',
    tool: 'checkov',
    rule: 'CKV_AWS_18',
    external_id: null,
    title: 'Ensure the S3 bucket has access logging enabled',
    description: null,
    solution: null,
    severity: 'medium',
    tool_severity: null,
    vulnerability_ids: [],
    cwes: [],
    cvss: [],
    references: ['https://docs.example.com/checks/s3-13-enable-logging'],
    asset: null,
    location: { path: 's3.tf', line: 1, end_line: 4, resource: 'aws_s3_bucket.logs', fingerprint: 'aws_s3_bucket.logs' },
    present: true,
    suppressed: false,
    first_seen: null,
    last_seen: null,
    tags: ['terraform'],
  });
  expect(observations[1]).toMatchObject({ rule: 'CKV_AWS_21', severity: 'high', tool_severity: 'HIGH', references: [] });
});

test('reads several kinds of files with vulnerable packages and secrets', async () => {
  const { observations, rejections } = await read('several-types.json');
  expect(rejections).toEqual([]);
  expect(observations).toMatchObject([
    { place: '[0].results.failed_checks[0]', rule: 'CKV_DOCKER_2', severity: 'low', tags: ['dockerfile'] },
    { rule: 'CKV_SECRET_6', severity: 'medium', cwes: [798], tags: ['secrets'] },
    {
      place: '[2].results.failed_checks[0]',
      rule: 'CKV_CVE_2021_44228',
      title: 'CVE-2021-44228 - org.apache.logging.log4j_log4j-core: 2.14.1',
      severity: 'critical',
      vulnerability_ids: ['CVE-2021-44228'],
      cvss: [{ vector: 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:C/C:H/I:H/A:H', score: 10 }],
      references: ['https://nvd.nist.gov/vuln/detail/CVE-2021-44228'],
      location: {
        component: 'org.apache.logging.log4j_log4j-core',
        version: '2.14.1',
        fixed_version: '2.15.0',
        path: 'service/pom.xml',
        line: 30,
      },
      suppressed: false,
      tags: ['sca_package'],
    },
    { rule: 'BC_LIC_1', vulnerability_ids: [], location: { component: 'made-up-lib', version: '1.0.0' } },
    {
      place: '[2].results.skipped_checks[0]',
      vulnerability_ids: ['CVE-2020-13956'],
      severity: 'medium',
      location: { component: 'org.apache.httpcomponents_httpclient' },
      suppressed: true,
    },
  ]);
  expect(observations[0]?.location).toEqual({ path: 'api/Dockerfile', resource: '/api/Dockerfile.' });
  expect(observations[1]?.location).toEqual({ path: 'app/settings.py', line: 7, end_line: 8 });
  expect(observations[4]?.location.fixed_version).toBeUndefined();
  expect(JSON.stringify(observations)).not.toMatch(/bm90LWEtcmVhbC1z|25910f98/);
});

test('rejects malformed checks and reads the rest', async () => {
  const { observations, rejections } = await read('malformed.json');
  expect(rejections).toEqual([
    { place: 'results.failed_checks[0]', reason: 'check_id is missing' },
    { place: 'results.failed_checks[1]', reason: 'check_id is missing' },
  ]);
  expect(observations).toMatchObject([{ rule: 'CKV_K8S_8', location: { resource: 'Pod.default.web', line: 1 } }]);
});

test('accepts the summary of a run without files and rejects another file', async () => {
  expect(await read('empty-summary.json')).toMatchObject({ observations: [], rejections: [] });
  await expect(readAll(checkov, fromBuffer('{"results": [], "errors": []}'))).rejects.toThrow(/with check_type and results/);
  await expect(readAll(checkov, fromBuffer('[{"Target": "alpine"}]'))).rejects.toThrow(/Expected/);
});

test('reports unparsed files as unread, relative to the scanned folder', async () => {
  const about = (parsing_errors: string[], checks: object[]) =>
    checkov.about?.(fromBuffer(JSON.stringify([{ check_type: 'terraform', results: { passed_checks: checks, failed_checks: [], parsing_errors } }])));
  const check = { check_id: 'CKV_AWS_18', file_path: '/s3.tf', file_abs_path: '/home/ci/repo/s3.tf' };
  expect(await about([], [check])).toEqual({ tools: null, finished: true, unread: [] });
  expect(await about(['/home/ci/repo/net/vpc.tf', 'other.tf'], [check])).toEqual({ tools: null, finished: true, unread: ['net/vpc.tf', 'other.tf'] });
  const whole = { check_id: 'CKV_AWS_18', file_path: '/home/ci/s3.tf', file_abs_path: '/home/ci/s3.tf' };
  expect(await about(['/home/ci/vpc.tf'], [whole])).toMatchObject({ finished: true, unread: ['/home/ci/vpc.tf'] });
  expect(await about(['/home/ci/repo/vpc.tf'], [])).toMatchObject({ finished: false, unread: [] });
  expect(await about(['/somewhere/else.tf'], [check])).toMatchObject({ finished: false, unread: [] });
});

test('names the checks that a comment skips', async () => {
  const skipped_checks = [{ check_id: 'CKV_AWS_18', file_path: '/s3.tf', file_abs_path: '/home/ci/repo/s3.tf' }, { check_id: 'CKV_AWS_19' }];
  const about = await checkov.about?.(fromBuffer(JSON.stringify({ check_type: 'terraform', results: { failed_checks: [], skipped_checks } })));
  expect(about).toMatchObject({ finished: true, skipped: [{ rule: 'CKV_AWS_18', path: 's3.tf' }] });
});

test('states the version of the run, also without checks', async () => {
  const run = { check_type: 'terraform', results: { failed_checks: [] }, summary: { checkov_version: '3.2.1' } };
  for (const report of [run, [run, run], { passed: 0, failed: 0, skipped: 0, checkov_version: '3.2.1' }])
    expect((await readAll(checkov, fromBuffer(JSON.stringify(report)))).runs).toMatchObject([{ tool_version: '3.2.1' }]);
});

test('states the framework if there is only one, because the run says nothing about others', async () => {
  const run = (check_type: string) => ({ check_type, results: { failed_checks: [] } });
  const restrictionsOf = async (report: object) => (await readAll(checkov, fromBuffer(JSON.stringify(report)))).runs.map(({ restrictions }) => restrictions);
  expect(await restrictionsOf(run('terraform'))).toEqual([['--framework terraform']]);
  expect((await restrictionsOf([run('terraform'), run('kubernetes')])).flatMap((found) => found ?? [])).toEqual([]);
});
