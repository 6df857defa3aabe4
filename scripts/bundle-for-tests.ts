import { bundleIfStale } from '../service/scripts/bundle.ts';

/** Before all tests: threads and services that they start load the bundle. */
export async function setup(): Promise<void> {
  await bundleIfStale();
}
