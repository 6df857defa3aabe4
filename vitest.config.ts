import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    globalSetup: './service/src/testing/global-setup.ts',
    include: [
      'checks/**/*.test.ts',
      'service/**/*.test.ts',
      'scan-reports/**/*.test.ts',
      'connectors/**/*.test.ts',
      'evidence-format/**/*.test.ts',
      'verifier/**/*.test.ts',
      'acceptance/**/*.test.ts',
      'bench/**/*.test.ts',
    ],
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});
