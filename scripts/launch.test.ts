import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';

it('threads of a program use the compiled modules of earlier ones', () => {
  const launcher = new URL('./launch.mjs', import.meta.url).href;
  const program = `import { Worker } from 'node:worker_threads';
    import { launch } from '${launcher}';
    const inThread = "import('node:module').then(({ default: module }) => console.log(module.getCompileCacheDir()))";
    await launch({ url: '${launcher}', program: 'rrs-server', failure: 1 }, () => new Worker(inThread, { eval: true }));`;
  const printed = execFileSync(process.execPath, ['--input-type=module', '--eval', program], { encoding: 'utf8', env: {} });
  expect(printed).toMatch(/node_modules\/\.cache\/rrs\//);
});
