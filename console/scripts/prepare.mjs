/**
 * Builds the console at the end of `npm ci`. An installation without development packages has no bundler, and an old Node cannot run the build:
 * neither must fail the installation, because the service builds the console at its start, and works without it.
 */
try {
  const { buildIfStale } = await import('./build.ts');
  await buildIfStale();
} catch (error) {
  process.stdout.write(`The console was not built: ${error instanceof Error ? error.message.split('\n')[0] : String(error)}\n`);
}
