import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
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
