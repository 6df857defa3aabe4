import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { temporaryFolder } from './folders.ts';
import { call } from './http.ts';
import { checkout, run, type Service, startUsed, until } from './service.ts';

let service: Service;
beforeAll(async () => {
  service = await startUsed();
});

test('the examples in the README of the client run in the given order', async () => {
  const readme = readFileSync(join(checkout, 'client/README.md'), 'utf8');
  const examples = [...readme.matchAll(/^```ts\n([\s\S]*?)^```/gm)].map(([, code]) => code ?? '');
  expect(examples).toHaveLength(11);
  const folder = temporaryFolder();
  copyFileSync(join(checkout, 'scan-reports/src/formats/trivy/fixtures/image.json'), join(folder, 'trivy.json'));
  const program = join(folder, 'examples.ts');
  writeFileSync(program, examples.join('\n').replaceAll("'@rrs/client'", `'${join(checkout, 'client/src/index.ts')}'`));
  const examplesRun = run([], {
    command: [process.execPath, program],
    cwd: folder,
    env: { RRS_URL: service.url, RRS_API_KEY: service.key ?? '' },
  });
  // The last example waits for an event.
  await until('the examples end', async () => {
    await call(service.url, '/api/v1/work-items', { key: service.key, method: 'POST', body: { title: 'Something happens' } });
    return examplesRun.exited();
  });
  expect(await examplesRun.exit, examplesRun.stderr()).toBe(0);
  const printed = examplesRun.stdout();
  expect(printed).toMatch(/is owner of/);
  expect(printed).toMatch(/^succeeded \{/m);
  expect(printed).toMatch(/^\d+ of \d+ bytes$/m);
  expect(printed).toMatch(/^not_found No finding /m);
  expect(printed).toMatch(/^work_item\.created /m);
  expect(readFileSync(join(folder, 'evidence.zip')).subarray(0, 2).toString()).toBe('PK');
});
