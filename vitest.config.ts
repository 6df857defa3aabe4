import { defineConfig } from 'vitest/config';

const packages = '{service,scan-reports,connectors,evidence-format,verifier,scripts}';
/** Unit tests that start programs or take many seconds. `npm run test:quick` leaves them out. */
const slow = ['scripts/release.test.ts', 'service/src/testing/import-rules.test.ts', 'verifier/src/{build,cli,timestamp-openssl}.test.ts'];
const database = `${packages}/**/*.db.test.ts`;
const excluded = ['**/node_modules/**', '**/dist/**', '**/.dev-data/**'];

export default defineConfig({
  test: {
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 60_000,
    projects: [
      { extends: true, test: { name: 'unit', include: [`${packages}/**/*.test.ts`], exclude: [...excluded, database, ...slow] } },
      { extends: true, test: { name: 'database', include: [database], exclude: excluded, globalSetup: './service/src/testing/global-setup.ts' } },
      { extends: true, test: { name: 'system', include: ['{acceptance,bench}/**/*.test.ts', ...slow], exclude: excluded } },
    ],
  },
});
