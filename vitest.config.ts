import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { keepTemporaryFilesInMemory } from './scripts/memory-folder.ts';
import { childrenFromBundle } from './service/scripts/bundle.ts';

const packages = '{checks,client,console,cli,demo,service,scan-reports,connectors,evidence-format,verifier,scripts}';
/** Tests without a database that start programs or take many seconds. `npm run test:quick` leaves them out. */
const slow = [
  'checks/import-rules.test.ts',
  'cli/**/completion.test.ts',
  'connectors/**/{enrichment,scanners,ticketing}.test.ts',
  'demo/src/demo.test.ts',
  'evidence-format/**/{merkle,readme,schema,timestamp,zip}.test.ts',
  'scan-reports/**/{contract,linear-time,throughput}.test.ts',
  'scripts/{oldest-postgres,release}.test.ts',
  'service/**/{blobs,formats,passwords,report-pdf}.test.ts',
  'verifier/**/{build,cli,memory,mutation,timestamp-openssl,vectors,zip-reader}.test.ts',
];
const database = `${packages}/**/*.db.test.ts`;
const excluded = ['**/node_modules/**', '**/dist/**', '**/.dev-data/**'];

keepTemporaryFilesInMemory();

export default defineConfig({
  plugins: [childrenFromBundle()],
  test: {
    globalSetup: ['./scripts/bundle-for-tests.ts'],
    pool: 'forks',
    // Programs that tests start load hundreds of modules. Compiling them once is enough.
    env: { NODE_COMPILE_CACHE: fileURLToPath(new URL('node_modules/.cache/tests', import.meta.url)) },
    // Tests that use a browser or a running service often wait, so three files keep two cores busy.
    maxWorkers: 3,
    // The slowest take twelve seconds on an idle machine with two cores.
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // The default of one second is too short for a page that loads on a busy machine.
    expect: { poll: { timeout: 20_000 } },
    projects: [
      // Unit tests share modules: loading them again for each file would take longer than the tests.
      { extends: true, test: { name: 'unit', isolate: false, include: [`${packages}/**/*.test.ts`], exclude: [...excluded, database, ...slow] } },
      {
        extends: true,
        test: { name: 'database', isolate: false, include: [database], exclude: excluded, globalSetup: ['./service/src/testing/global-setup.ts'] },
      },
      {
        extends: true,
        test: {
          name: 'system',
          include: ['{acceptance,campaigns}/**/*.test.ts', ...slow],
          exclude: excluded,
          globalSetup: ['./acceptance/src/global-setup.ts'],
        },
      },
      // Only by `npm run test:bench`: they show that the benchmark works, which takes longer than it is worth in every run.
      { extends: true, test: { name: 'bench', include: ['bench/**/*.test.ts'], exclude: excluded } },
    ],
  },
});
