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
  'evidence-format/**/{merkle,readme,schema,timestamp,zip}.test.ts',
  'scan-reports/**/contract.test.ts',
  'service/**/{formats,passwords}.test.ts',
  'verifier/**/{build,cli,vectors,zip-reader}.test.ts',
];
const database = `${packages}/**/*.db.test.ts`;
/** Tests that install, kill or attack programs, or that try everything there is. `npm run test:long` runs them, and CI does so after `npm test`. */
const long = [
  'acceptance/src/{backup,command-line,crash,docs,first-start-crash,footprint,import-crash,many-processes,packages}.test.ts',
  'acceptance/src/{report-accessibility,stop,sync-crash,users,verifier-page}.test.ts',
  'acceptance/src/console/{journeys,whole}.test.ts',
  'campaigns/**/*.test.ts',
  'demo/src/demo.test.ts',
  'scan-reports/**/{linear-time,throughput}.test.ts',
  'scripts/{oldest-postgres,release}.test.ts',
  'service/**/{blobs,report-pdf}.test.ts',
  'verifier/**/{false-values,memory,mutation,timestamp-openssl}.test.ts',
];
const longDatabase = [
  'service/**/{backup,crowd,epochs,event-loop,histories,large-package,pairs,plans,restore,seal-crash,size,whitewashing,yardsticks}.db.test.ts',
];
const excluded = ['**/node_modules/**', '**/dist/**', '**/.dev-data/**'];

/** Tests share modules: loading them again for each file would take longer than the tests. */
const together = { isolate: false };
const withPostgres = { globalSetup: ['./service/src/testing/global-setup.ts'] };
const withService = { globalSetup: ['./acceptance/src/global-setup.ts'] };

interface Tests {
  include: string[];
  exclude?: string[];
  isolate?: boolean;
  globalSetup?: string[];
}

const project = (name: string, { exclude = [], ...tests }: Tests) => ({ extends: true as const, test: { name, ...tests, exclude: [...excluded, ...exclude] } });

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
    tags: [{ name: 'law', description: 'Tries random histories. See `npm run test:laws`.' }],
    hookTimeout: 120_000,
    // The default of one second is too short for a page that loads on a busy machine.
    expect: { poll: { timeout: 20_000 } },
    projects: [
      project('unit', { ...together, include: [`${packages}/**/*.test.ts`], exclude: [database, ...slow, ...long] }),
      project('database', { ...together, ...withPostgres, include: [database], exclude: longDatabase }),
      project('database-long', { ...together, ...withPostgres, include: longDatabase }),
      project('system', { ...withService, include: ['acceptance/**/*.test.ts', ...slow], exclude: long }),
      project('system-long', { ...withService, include: long }),
      // Only by `npm run test:bench`: they show that the benchmark works, which takes longer than it is worth in every run.
      project('bench', { include: ['bench/**/*.test.ts'] }),
    ],
  },
});
