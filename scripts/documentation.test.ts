import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const pages = globSync(['*.md', 'docs/**/*.md', 'verifier/*.md', '.github/*.md'], { cwd: root });

/** As GitHub derives it from a heading. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(/\s/g, '-');
}

function anchorsIn(path: string): string[] {
  return [...read(path).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => anchorOf(heading));
}

it.each(pages)('%s links only to files and headings that exist', (page) => {
  const links = [...read(page).matchAll(/\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)\s]+))?\)/g)];
  const broken = links.flatMap(([, file = '', anchor]) => {
    const target = file === '' ? page : join(dirname(page), file);
    const isThere = existsSync(join(root, target)) && (anchor === undefined || anchorsIn(target).includes(anchor));
    return isThere ? [] : [`${file}${anchor === undefined ? '' : `#${anchor}`}`];
  });
  expect(broken).toEqual([]);
});

describe('docs/adr', () => {
  const records = globSync('docs/adr/0*.md', { cwd: root }).sort();

  it('has records that are numbered without gaps and listed in the index', () => {
    const index = read('docs/adr/README.md');
    for (const [n, path] of records.entries()) {
      const [, number, title] = /^# (\d+)\. (.+)$/m.exec(read(path)) ?? [];
      expect(number).toBe(String(n + 1));
      expect(index).toContain(`${number}. [${title}](${path.slice('docs/adr/'.length)})`);
    }
  });

  it.each(records)('%s has a status, a context, a decision and consequences', (path) => {
    expect(read(path)).toMatch(/^# \d+\. .+\n\nStatus: .+\n\n## Context\n/);
    expect(read(path).match(/^## .+$/gm)).toEqual(['## Context', '## Decision', '## Consequences']);
  });
});

it('docs/dependencies.md names every dependency', () => {
  const page = read('docs/dependencies.md');
  const manifests = globSync('{.,*}/package.json', { cwd: root, exclude: ['node_modules'] }).map((path) => JSON.parse(read(path)));
  const names = manifests.flatMap(({ dependencies, devDependencies }) => Object.keys({ ...dependencies, ...devDependencies }));
  const isNamed = (name: string): boolean => name.startsWith('@rrs/') || name.startsWith('@types/') || page.includes(name);
  expect(names.length).toBeGreaterThan(30);
  expect(names.filter((name) => !isNamed(name))).toEqual([]);
});
