import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

/** `npm run release -- <major|minor|patch|x.y.z> [--dry-run]`: see CONTRIBUTING.md. */
const root = fileURLToPath(new URL('..', import.meta.url));
const USAGE = 'Usage: npm run release -- <major|minor|patch|x.y.z> [--dry-run]';
const TARBALLS = 'dist';
/** Texts that name the version: what installs the packages, and how to. */
const TEXTS = ['deploy/helm/rrs/Chart.yaml', 'docs/ci.md', 'integrations/github-action/action.yml', 'integrations/gitlab-ci/rrs.yml'];
const NAMED_VERSION = /(?<=@rrs\/cli@|[@/]v|^(?:appV|v)ersion: )\d+\.\d+\.\d+/gm;

/** A reason not to release that the person who runs the command can act on. */
class Refusal extends Error {}

interface Manifest {
  version: string;
  workspaces?: string[];
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
}

interface Plan {
  current: string;
  next: string;
  tag: string;
  workspaces: string[];
  /** The changelog after the release. */
  changelog: string;
  notes: string;
}

function main(): void {
  const { wanted, dryRun } = readArguments();
  const plan = makePlan(wanted);
  print(describe(plan));
  if (dryRun) print('\nDry run: nothing was changed.');
  else release(plan);
}

function release(plan: Plan): void {
  try {
    writeVersion(plan);
    writeFileSync(join(root, 'CHANGELOG.md'), plan.changelog);
    packTarballs();
  } catch (error) {
    // The tree was clean before, so this restores exactly what was changed here.
    git('checkout', '--quiet', '--', '.');
    throw error;
  }
  git('commit', '--quiet', '--all', '--message', `Release ${plan.next}`);
  git('tag', '--annotate', plan.tag, '--message', `${plan.next}\n\n${plan.notes}`);
  git('archive', '--format=tar.gz', `--prefix=remediation-risk-service-${plan.next}/`, `--output=${sourceArchive(plan)}`, plan.tag);
  print(`\nReleased ${plan.next}. Publish it with: git push origin HEAD ${plan.tag}`);
}

function readArguments(): { wanted: string; dryRun: boolean } {
  try {
    const { values, positionals } = parseArgs({ allowPositionals: true, options: { 'dry-run': { type: 'boolean', default: false } } });
    const [wanted, surplus] = positionals;
    if (wanted === undefined || surplus !== undefined) throw new Error('name exactly one version.');
    return { wanted, dryRun: values['dry-run'] };
  } catch (error) {
    throw new Refusal(`${error instanceof Error ? error.message : String(error)}\n${USAGE}`);
  }
}

function makePlan(wanted: string): Plan {
  const dirty = git('status', '--porcelain');
  if (dirty !== '') throw new Refusal(`the working tree has uncommitted changes. Commit or stash them first:\n${dirty}`);
  const { version: current, workspaces = [] } = readJson<Manifest>('package.json');
  const next = nextVersion(current, wanted);
  const tag = `v${next}`;
  if (git('tag', '--list', tag) !== '') throw new Refusal(`the tag ${tag} already exists. Choose another version.`);
  return { current, next, tag, workspaces, ...releaseNotes(readFileSync(join(root, 'CHANGELOG.md'), 'utf8'), next) };
}

function nextVersion(current: string, wanted: string): string {
  const [major = 0, minor = 0, patch = 0] = parts(current);
  if (wanted === 'major') return `${major + 1}.0.0`;
  if (wanted === 'minor') return `${major}.${minor + 1}.0`;
  if (wanted === 'patch') return `${major}.${minor}.${patch + 1}`;
  if (!/^(?:0|[1-9]\d*)(?:\.(?:0|[1-9]\d*)){2}$/.test(wanted)) throw new Refusal(`"${wanted}" is not a version.\n${USAGE}`);
  const difference = parts(wanted)
    .map((part, n) => part - (parts(current)[n] ?? 0))
    .find((part) => part !== 0);
  if (difference === undefined || difference < 0) throw new Refusal(`${wanted} is not newer than the current version ${current}.`);
  return wanted;
}

function parts(version: string): number[] {
  return version.split('.').map(Number);
}

/** Moves the entries of "Unreleased" under the new version and leaves an empty "Unreleased" section. */
function releaseNotes(changelog: string, version: string): Pick<Plan, 'changelog' | 'notes'> {
  const [before, rest] = changelog.split(/^## Unreleased$/m);
  if (before === undefined || rest === undefined) throw new Refusal('CHANGELOG.md has no "## Unreleased" section. Add it.');
  const end = rest.search(/^## /m);
  const notes = (end === -1 ? rest : rest.slice(0, end)).trim();
  if (!/^[ \t]*-/m.test(notes)) throw new Refusal('the "Unreleased" section of CHANGELOG.md is empty. Describe what changed.');
  const older = end === -1 ? '' : `\n${rest.slice(end)}`;
  const date = new Date().toISOString().slice(0, 10);
  return { notes, changelog: `${before}## Unreleased\n\n## ${version} (${date})\n\n${notes}\n${older}` };
}

function describe({ current, next, tag, workspaces, notes }: Plan): string {
  return [
    `Release ${current} -> ${next}`,
    '',
    `  set the version in  package.json, package-lock.json, service/openapi.json, ${[...TEXTS, ...workspaces.map((name) => `${name}/package.json`)].join(', ')}`,
    `  move the entries    of "Unreleased" in CHANGELOG.md to ${next}`,
    `  commit and tag      ${tag}`,
    `  write tarballs      of the packages to ${TARBALLS}/packages/ and of the sources to ${TARBALLS}/`,
    '',
    'Release notes:',
    '',
    notes,
  ].join('\n');
}

function writeVersion({ next, workspaces }: Plan): void {
  const setVersion = (manifest: Manifest): void => {
    manifest.version = next;
    for (const dependencies of [manifest.dependencies, manifest.devDependencies])
      for (const name of Object.keys(dependencies ?? {})) if (dependencies && name.startsWith('@rrs/')) dependencies[name] = next;
  };
  for (const folder of ['.', ...workspaces]) editJson<Manifest>(join(folder, 'package.json'), setVersion);
  editJson<{ version: string; packages: Record<string, Manifest> }>('package-lock.json', (lock) => {
    lock.version = next;
    for (const folder of ['', ...workspaces]) {
      const manifest = lock.packages[folder];
      if (manifest) setVersion(manifest);
    }
  });
  editJson<{ info: { version: string } }>('service/openapi.json', ({ info }) => {
    info.version = next;
  });
  for (const path of TEXTS) writeFileSync(join(root, path), readFileSync(join(root, path), 'utf8').replaceAll(NAMED_VERSION, next));
}

function packTarballs(): void {
  run('npm', ['run', '--silent', 'pack']);
}

function sourceArchive({ next }: Plan): string {
  return join(TARBALLS, `remediation-risk-service-${next}.tar.gz`);
}

function readJson<T>(path: string): T {
  return JSON.parse(readFileSync(join(root, path), 'utf8')) as T;
}

function editJson<T>(path: string, edit: (content: T) => void): void {
  const content = readJson<T>(path);
  edit(content);
  writeFileSync(join(root, path), `${JSON.stringify(content, null, 2)}\n`);
}

function git(...args: string[]): string {
  return run('git', args).trimEnd();
}

function run(program: string, args: readonly string[]): string {
  return execFileSync(program, args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

try {
  main();
} catch (error) {
  process.stderr.write(`release: ${error instanceof Refusal ? error.message : String(error instanceof Error ? error.stack : error)}\n`);
  process.exitCode = 1;
}
