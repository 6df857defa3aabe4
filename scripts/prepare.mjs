/**
 * Builds the console and the bundle of the service at the end of `npm ci`. An installation without development packages has no bundler, and an old Node
 * cannot run the builds: neither must fail the installation, because the service also runs from its sources and without the console.
 */
const builds = {
  'The console': async () => (await import('../console/scripts/build.ts')).buildIfStale(),
  'The bundle of the service': async () => (await import('../service/scripts/bundle.ts')).bundleIfStale(),
};
for (const [what, build] of Object.entries(builds)) {
  try {
    await build();
  } catch (error) {
    process.stdout.write(`${what} was not built: ${error instanceof Error ? error.message.split('\n')[0] : String(error)}\n`);
  }
}
