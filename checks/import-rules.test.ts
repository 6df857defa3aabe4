import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';

/** Forbidden imports, each with the rule that must report it. */
const forbidden: Record<string, { source: string; rule: string }> = {
  'service/src/audit/right.ts': { source: "import '../organizations/clean.ts';", rule: 'audit-imports-only-leftwards' },
  'service/src/events/right.ts': { source: "import '../organizations/clean.ts';", rule: 'events-imports-only-leftwards' },
  'service/src/findings/right.ts': { source: "import '../work-items/clean.ts';", rule: 'findings-imports-only-leftwards' },
  'service/src/work-items/right.ts': { source: "import '../evidence/clean.ts';", rule: 'work-items-imports-only-leftwards' },
  'service/src/work-items/private.ts': { source: "import '../audit/schemas.ts';", rule: 'front-door' },
  'service/src/organizations/private.ts': { source: "import '../audit/schemas.ts';", rule: 'front-door' },
  'service/src/organizations/routes-x.ts': { source: "import './queries.ts';", rule: 'routes-do-not-query' },
  'service/src/organizations/verb.ts': { source: "import '../http/clean.ts';", rule: 'only-routes-see-http' },
  'service/src/organizations/framework.ts': { source: "import 'fastify';", rule: 'only-routes-see-http' },
  'service/src/http/feature.ts': { source: "import '../organizations/clean.ts';", rule: 'base-knows-no-feature' },
  'service/src/db/feature.ts': { source: "import '../main/clean.ts';", rule: 'base-knows-no-feature' },
  'service/src/shared/disk.ts': { source: "import 'node:fs';", rule: 'shared-does-no-io' },
  'service/src/audit/driver.ts': { source: "import 'pg';", rule: 'only-db-and-main-see-pg' },
  'service/src/organizations/wiring.ts': { source: "import '../main/clean.ts';", rule: 'nobody-imports-main' },
  'service/src/blobs/test-helper.ts': { source: "import '../testing/clean.ts';", rule: 'tests-stay-outside' },
  'acceptance/src/inside.test.ts': { source: "import '../../service/src/http/clean.ts';", rule: 'acceptance-is-black-box' },
  'client/src/platform.ts': { source: "import 'node:fs';", rule: 'the-client-stands-alone' },
  'console/src/parts/server.tsx': { source: "import '../../../service/src/http/clean.ts';", rule: 'the-console-uses-only-the-client' },
  'console/src/pages/work/other.tsx': { source: "import '../findings/clean.ts';", rule: 'pages-do-not-share' },
  'console/src/lists/page.tsx': { source: "import '../pages/findings/clean.ts';", rule: 'console-parts-know-no-page' },
  'service/src/jobs/cycle-a.ts': { source: "import './cycle-b.ts';", rule: 'no-cycles' },
  'service/src/jobs/hidden.ts': { source: "import 'chai';", rule: 'no-undeclared-packages' },
  'service/src/jobs/lost.ts': { source: "import './nowhere.ts';", rule: 'not-resolvable' },
};

const clean: Record<string, string> = {
  'console/src/pages/findings/clean.ts': '',
  'service/src/organizations/clean.ts': "import '../audit/clean.ts';",
  'service/src/organizations/queries.ts': '',
  'service/src/organizations/routes-clean.ts': "import '../http/clean.ts';",
  'service/src/work-items/clean.ts': "import '../organizations/clean.ts';",
  'service/src/evidence/clean.ts': "import '../work-items/clean.ts';",
  'service/src/audit/clean.ts': "import '../db/clean.ts';",
  'service/src/audit/schemas.ts': "import '../http/clean.ts';",
  'service/src/http/clean.ts': "import 'fastify';",
  'service/src/db/clean.ts': "import 'pg';",
  'service/src/main/clean.ts': "import '../organizations/clean.ts';",
  'service/src/testing/clean.ts': "import '../main/clean.ts';",
  'service/src/jobs/cycle-b.ts': "import './cycle-a.ts';",
};

const root = join(import.meta.dirname, '..');
let tree: string;
let reported: { from: string; rule: string }[];

beforeAll(async () => {
  tree = await mkdtemp(join(tmpdir(), 'rrs-rules-'));
  const sources = { ...clean, ...Object.fromEntries(Object.entries(forbidden).map(([path, { source }]) => [path, source])) };
  for (const [path, source] of Object.entries(sources)) {
    await mkdir(dirname(join(tree, path)), { recursive: true });
    await writeFile(join(tree, path), `${source}\nexport const here = true;\n`);
  }
  await symlink(join(root, 'node_modules'), join(tree, 'node_modules'));
  await writeFile(join(tree, 'package.json'), JSON.stringify({ type: 'module', dependencies: { fastify: '*', pg: '*' } }));
  const args = [
    join(root, 'node_modules/dependency-cruiser/bin/dependency-cruiser.mjs'),
    '--config',
    join(root, '.dependency-cruiser.mjs'),
    '--output-type',
    'json',
    'client',
    'console',
    'service',
    'acceptance',
  ];
  // The exit code is the number of violations.
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: tree, maxBuffer: 1e8 }).catch((error: { stdout: string }) => error);
  const { summary } = JSON.parse(stdout) as { summary: { violations: { from: string; rule: { name: string } }[] } };
  reported = summary.violations.map(({ from, rule }) => ({ from, rule: rule.name }));
});

afterAll(() => rm(tree, { recursive: true, force: true }));

test.each(Object.entries(forbidden))('%s is reported', (from, { rule }) => {
  expect(reported).toContainEqual({ from, rule });
});

test('allowed imports are not reported', () => {
  const allowed = Object.keys(clean).filter((path) => !path.includes('cycle'));
  expect(reported.filter(({ from }) => allowed.includes(from))).toEqual([]);
});
