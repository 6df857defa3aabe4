import { beforeEach, describe, expect, it } from 'vitest';
import { systemActor } from '../../shared/actor.ts';
import { useImports } from '../../testing/findings/imports.ts';
import { type FindingPatch, updateFinding } from '../triage/triage.ts';

const engine = useImports();
let org: string;
beforeEach(async () => {
  org = await engine.organization();
});

const asset = { type: 'repository', name: 'https://github.com/acme/shop' } as const;
const at = (day: number): string => new Date(Date.UTC(2026, 0, day, 12)).toISOString();
const upload = (format: string, report: object, day: number, path?: string) => {
  const file = { format, name: 'report.json', bytes: Buffer.from(JSON.stringify(report)) };
  return engine.runFile(org, file, { coverage: 'complete', asset, started_at: at(day), ...(path === undefined ? {} : { path }) });
};
const decide = async (patch: FindingPatch) => {
  const [finding] = await engine.findings(org);
  const input = { id: finding?.id ?? '', patch, check: () => {} };
  await engine.db().withTenant({ orgId: org }, (tx) => updateFinding(tx, systemActor(org, 'Ada'), input, engine.follower));
};
const accept = { status: 'risk_accepted', owner: 'ada', reason: 'internal only', expires_at: new Date(Date.now() + 30 * 86_400_000).toISOString() } as const;
const dismiss = { status: 'false_positive', justification: 'code_not_reachable', reason: 'only in tests' } as const;
const states = async () =>
  (await engine.admin().query("select location->>'path' as path, status, reason_code, place_count from findings where org_id = $1 order by 1", [org])).rows;

describe('a component in two parts of a repository', () => {
  const audit = (nodes: string[] | undefined, ...names: string[]) => ({
    auditReportVersion: 2,
    vulnerabilities: Object.fromEntries(
      names.map((name) => [
        name,
        { name, severity: 'high', via: [{ source: 1, title: name, name, url: 'https://github.com/advisories/GHSA-1111-aaaa-0001' }], ...(nodes && { nodes }) },
      ]),
    ),
    metadata: { dependencies: { total: 100 } },
  });

  it.each([
    ['folders', 'svc/a', 'svc/b', ['node_modules/lodash']],
    ['lock files', 'svc/a/package-lock.json', 'svc/b/package-lock.json', ['node_modules/lodash']],
    ['folders, without paths', 'svc/a', 'svc/b', undefined],
  ])('is in two places, and what is accepted in one is open in the other: %s', async (_, a, b, nodes) => {
    await upload('npm_audit', audit(nodes, 'lodash'), 1, a);
    await decide(accept);
    expect(await upload('npm_audit', audit(nodes, 'lodash'), 2, a)).toMatchObject({ unchanged: 1 });
    expect(await states()).toMatchObject([{ status: 'risk_accepted', place_count: 1 }]);
    await upload('npm_audit', audit(nodes, 'lodash'), 3, b);
    expect(await states()).toMatchObject([{ status: 'open', reason_code: 'new_occurrence', place_count: 2 }]);
    await upload('npm_audit', audit(nodes), 4, a);
    expect(await states()).toMatchObject([{ status: 'open', place_count: 1 }]);
    await upload('npm_audit', audit(nodes), 5, b);
    expect(await states()).toMatchObject([{ status: 'verified' }]);
  });
});

describe('code in two parts of a repository', () => {
  const sarif = (uri: string, text: string) => ({
    version: '2.1.0',
    runs: [
      {
        tool: { driver: { name: 'analyzer' } },
        results: [
          {
            ruleId: 'sqli',
            message: { text: 'SQL injection' },
            locations: [{ physicalLocation: { artifactLocation: { uri }, region: { startLine: 10, snippet: { text } } } }],
          },
        ],
      },
    ],
  });
  const [a, b] = [
    { path: 'svc/a/src/db.js', status: 'false_positive' },
    { path: 'svc/b/src/db.js', status: 'open' },
  ];

  it('is two findings, although the files have the same path in their parts', async () => {
    await upload('sarif', sarif('src/db.js', 'query(id)'), 1, 'svc/a');
    await decide(dismiss);
    expect(await upload('sarif', sarif('src/db.js', 'query(id)'), 2, 'svc/a')).toMatchObject({ unchanged: 1 });
    expect(await upload('sarif', sarif('src/db.js', 'query(name)'), 3, 'svc/b')).toMatchObject({ created: 1 });
    expect(await states()).toMatchObject([a, b]);
  });

  it('is the same finding if the tool was started in the root of the repository', async () => {
    await upload('sarif', sarif('src/db.js', 'query(id)'), 1, 'svc/a');
    await decide(dismiss);
    await upload('sarif', sarif('svc/a/src/db.js', 'query(id)'), 2, 'svc/a');
    await upload('sarif', sarif('svc/a/src/db.js', 'query(id)'), 3);
    expect(await states()).toMatchObject([a]);
  });
});
