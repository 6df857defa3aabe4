import type { FakeVendor } from './fake-server.ts';
import { snykFake } from './scanners/snyk/fake.ts';

export const fakes: readonly FakeVendor[] = [snykFake];
