import { execFileSync, spawnSync } from 'node:child_process';
import { appendFileSync, cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';

const checkout = fileURLToPath(new URL('..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'rrs-release-'));
const template = join(folder, 'template');
const clone = join(folder, 'clone');
/** Sources do not matter for a release, and copying them takes time. */
const LEFT_OUT = new Set(['.git', 'node_modules', 'dist', 'data', '.dev-data', 'src', 'vectors', 'migrations']);
const PACK = `import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
mkdirSync('dist/packages', { recursive: true });
writeFileSync('dist/packages/packed', JSON.parse(readFileSync('service/package.json', 'utf8')).version);
`;
const CHANGELOG = '# Changelog\n\n## Unreleased\n\n- Adds a thing.\n\n## 0.1.0 (2026-01-01)\n\n- Begins.\n';

function git(cwd: string, ...args: string[]): string {
  return execFileSync('git', ['-c', 'user.name=Test', '-c', 'user.email=test@example.com', ...args], { cwd, encoding: 'utf8' }).trim();
}

beforeAll(() => {
  cpSync(checkout, template, { recursive: true, filter: (path) => !LEFT_OUT.has(path.split('/').at(-1) ?? '') });
  writeFileSync(join(template, 'CHANGELOG.md'), CHANGELOG);
  // acceptance/src/packages.test.ts packs and installs the packages. It needs the sources.
  writeFileSync(join(template, 'scripts/pack.ts'), PACK);
  const manifests = ['package.json', ...readdirSync(template).map((name) => `${name}/package.json`)].filter((path) => existsSync(join(template, path)));
  expect(new Set(manifests.map((path) => versionIn(template, path))).size).toBe(1);
  git(template, 'init', '--quiet');
  git(template, 'add', '--all');
  git(template, 'commit', '--quiet', '--message', 'Everything');
});
beforeEach(() => {
  rmSync(clone, { recursive: true, force: true });
  git(folder, 'clone', '--quiet', '--shared', template, clone);
  git(clone, 'config', 'user.name', 'Test');
  git(clone, 'config', 'user.email', 'test@example.com');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function release(...args: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['scripts/release.ts', ...args], { cwd: clone, encoding: 'utf8' });
  return { status, stdout, stderr };
}

function versionIn(root: string, path: string): string {
  return JSON.parse(readFileSync(join(root, path), 'utf8')).version;
}

const current = versionIn(checkout, 'package.json');
const [major = 0, minor = 0] = current.split('.').map(Number);
const state = () => ({ head: git(clone, 'rev-parse', 'HEAD'), tags: git(clone, 'tag'), status: git(clone, 'status', '--porcelain', '--ignored') });

test('a dry run prints the plan and changes nothing', () => {
  const before = state();
  const versions = { minor: `${major}.${minor + 1}.0`, '77.1.2': '77.1.2' };
  for (const [wanted, next] of Object.entries(versions)) {
    const { status, stdout, stderr } = release(wanted, '--dry-run');
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toContain(`Release ${current} -> ${next}`);
    expect(stdout).toContain('- Adds a thing.');
  }
  expect(state()).toEqual(before);
});

test('a release sets all versions, moves the changelog entries, commits, tags and packs', () => {
  const { status, stdout, stderr } = release('77.1.2');
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  expect(stdout).toContain('git push origin HEAD v77.1.2');

  const { workspaces } = JSON.parse(readFileSync(join(clone, 'package.json'), 'utf8')) as { workspaces: string[] };
  for (const path of ['package.json', 'package-lock.json', ...workspaces.map((name) => `${name}/package.json`)])
    expect([path, versionIn(clone, path)]).toEqual([path, '77.1.2']);
  const lock = JSON.parse(readFileSync(join(clone, 'package-lock.json'), 'utf8'));
  for (const name of ['', ...workspaces]) expect([name, lock.packages[name].version]).toEqual([name, '77.1.2']);
  expect(lock.packages.service.dependencies['@rrs/connectors']).toBe('77.1.2');
  expect(JSON.parse(readFileSync(join(clone, 'service/package.json'), 'utf8')).dependencies['@rrs/connectors']).toBe('77.1.2');
  expect(JSON.parse(readFileSync(join(clone, 'service/openapi.json'), 'utf8')).info.version).toBe('77.1.2');
  // What a release tells others to install is that release.
  for (const path of ['deploy/helm/rrs/Chart.yaml', 'docs/ci.md', 'integrations/github-action/action.yml', 'integrations/gitlab-ci/rrs.yml'])
    expect(readFileSync(join(clone, path), 'utf8'), path).not.toContain(current);
  expect(readFileSync(join(clone, 'deploy/helm/rrs/Chart.yaml'), 'utf8')).toContain('\nversion: 77.1.2\nappVersion: 77.1.2\n');
  expect(readFileSync(join(clone, 'integrations/github-action/action.yml'), 'utf8')).toContain('@rrs/cli@77.1.2');

  const today = new Date().toISOString().slice(0, 10);
  const expected = CHANGELOG.replace('## Unreleased\n', `## Unreleased\n\n## 77.1.2 (${today})\n`);
  expect(readFileSync(join(clone, 'CHANGELOG.md'), 'utf8')).toBe(expected);
  expect(git(clone, 'log', '-1', '--format=%s')).toBe('Release 77.1.2');
  expect(git(clone, 'rev-parse', 'v77.1.2^{commit}')).toBe(git(clone, 'rev-parse', 'HEAD'));
  expect(git(clone, 'status', '--porcelain')).toBe('');
  expect(readdirSync(join(clone, 'dist')).sort()).toEqual(['packages', 'remediation-risk-service-77.1.2.tar.gz']);
  expect(readFileSync(join(clone, 'dist/packages/packed'), 'utf8')).toBe('77.1.2');
});

describe('a release is refused', () => {
  const refused = (args: string[], message: string): void => {
    const before = state();
    const { status, stdout, stderr } = release(...args);
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toContain(message);
    expect(state()).toEqual(before);
  };
  const changelog = (text: string): void => {
    writeFileSync(join(clone, 'CHANGELOG.md'), text);
    git(clone, 'commit', '--quiet', '--all', '--message', 'Change the changelog');
  };

  test('when the working tree has changes', () => {
    appendFileSync(join(clone, 'README.md'), 'more\n');
    refused(['patch'], 'uncommitted changes');
    git(clone, 'checkout', '--quiet', '--', '.');
    writeFileSync(join(clone, 'untracked.txt'), '');
    refused(['patch', '--dry-run'], 'untracked.txt');
  });

  test('when the version is not newer', () => {
    refused([current], `${current} is not newer than the current version ${current}`);
    refused(['0.0.9'], '0.0.9 is not newer');
  });

  test('when the version is not a version', () => {
    for (const wrong of [['newest'], ['1.2'], ['01.2.3'], [], ['patch', 'minor'], ['patch', '--force']]) refused(wrong, 'Usage: npm run release');
  });

  test('when nothing is unreleased', () => {
    changelog(CHANGELOG.replace('- Adds a thing.\n', ''));
    refused(['patch'], 'section of CHANGELOG.md is empty');
    changelog('# Changelog\n');
    refused(['patch'], 'has no "## Unreleased" section');
  });

  test('when the tag exists', () => {
    git(clone, 'tag', 'v77.1.2');
    refused(['77.1.2'], 'the tag v77.1.2 already exists');
  });
});
