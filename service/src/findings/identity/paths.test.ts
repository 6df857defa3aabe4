import fc from 'fast-check';
import { expect, it } from 'vitest';
import { isSamePath, normalPath, withoutVersion } from './paths.ts';

it.each([
  ['src/a.ts', 'src/a.ts'],
  ['./src/a.ts', 'src/a.ts'],
  ['/src//a.ts', 'src/a.ts'],
  ['src\\a.ts', 'src/a.ts'],
  ['C:\\work\\a.ts', 'work/a.ts'],
  ['file:///src/a.ts', 'src/a.ts'],
  ['file:///C:/src/a.ts', 'src/a.ts'],
  ['/home/runner/work/shop/shop/src/a.ts', 'src/a.ts'],
  ['D:\\a\\shop\\shop\\src\\a.ts', 'src/a.ts'],
  ['/home/runner/work/shop/api/src/a.ts', 'home/runner/work/shop/api/src/a.ts'],
  ['/github/workspace/src/a.ts', 'src/a.ts'],
  ['/home/vsts/work/1/s/src/a.ts', 'src/a.ts'],
  ['/opt/atlassian/pipelines/agent/build/src/a.ts', 'src/a.ts'],
  ['/var/jenkins/workspace/shop@2/src/a.ts', 'var/jenkins/workspace/shop/src/a.ts'],
  ['C:\\Jenkins\\workspace\\shop@12\\src\\a.ts', 'Jenkins/workspace/shop/src/a.ts'],
  ['/var/jenkins/workspace/shop@libs/src/a.ts', 'var/jenkins/workspace/shop@libs/src/a.ts'],
  ['workspace/shop@2/a.ts', 'workspace/shop@2/a.ts'],
  ['/app.jar:BOOT-INF/lib/x.jar', 'app.jar/BOOT-INF/lib/x.jar'],
  ['./C:/D:/a', 'a'],
  ['a/../b', 'a/../b'],
  ['/', '/'],
  ['', ''],
])('%s is normally written %s', (given, normal) => {
  expect(normalPath(given)).toBe(normal);
});

it.each([
  ['src/a.ts', '/builds/acme/shop/src/a.ts', true],
  ['app/lib/x.jar', '/app/lib/x.jar', true],
  ['lib/x.jar', 'app/lib/x.jar', true],
  ['b/x.jar', 'lib/x.jar', false],
  ['ib/x.jar', 'lib/x.jar', false],
  ['src/a.ts', 'src/b.ts', false],
  ['package.json', './package.json', true],
  // A name without a folder says too little.
  ['package.json', 'admin/package.json', false],
  ['/', 'a/b', false],
])('%s and %s may be the same file: %s', (one, other, same) => {
  expect(isSamePath(one, other)).toBe(same);
  expect(isSamePath(other, one)).toBe(same);
});

it.each([
  ['lib/log4j-core-2.14.1.jar', '2.14.1', 'lib/log4j-core-*.jar'],
  ['.pnpm/a@1.0.0/node_modules/a@1.0.0', '1.0.0', '.pnpm/a@*/node_modules/a@*'],
  ['lib/a-1.jar', '1', 'lib/a-1.jar'],
  ['python3.11/a', '3.', 'python3.11/a'],
  ['lib/a.jar', undefined, 'lib/a.jar'],
])('%s without the version %s is %s', (path, version, plain) => {
  expect(withoutVersion(path, version)).toBe(plain);
});

it('does not change a normal path', () => {
  const segment = fc.constantFrom('a', 'src', '.', '..', '', 'home', 'runner', 'work', 'C:', 'x.jar:y', '1', 's', 'file:', 'github', 'workspace', 'shop@2');
  const path = fc.oneof(
    fc.string(),
    fc.array(segment, { maxLength: 10 }).map((parts) => parts.join('/')),
  );
  fc.assert(
    fc.property(path, (given) => {
      expect(normalPath(normalPath(given))).toBe(normalPath(given));
    }),
  );
});
