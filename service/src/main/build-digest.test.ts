import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { distFolder, isBundleCurrent } from '../../bin/bundle-stamp.mjs';
import { buildDigest } from './build-digest.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));

it('is what standard tools compute over the files of the program', async () => {
  const folders = 'service/src evidence-format/src scan-reports/src connectors/src verifier/src';
  const command = `find ${folders} -name '*.ts' ! -name '*.test.ts' | LC_ALL=C sort | xargs sha256sum | sha256sum`;
  const [expected] = execFileSync('sh', ['-c', command], { cwd: root, encoding: 'utf8' }).split(' ');
  expect(await buildDigest()).toBe(expected);
});

it('is unknown without the files', async () => {
  expect(await buildDigest('/nonexistent/')).toBe(null);
});

it.runIf(isBundleCurrent())('is part of the bundle, so that a start need not read all sources', async () => {
  expect((await readFile(join(distFolder, 'build-digest'), 'utf8')).trim()).toBe(await buildDigest());
});
