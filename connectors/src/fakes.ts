/** For tests: fake vendors as local HTTP servers, written from the vendors' documentation, with injectable faults. */

export { fakes } from './fake-registry.ts';
export { type GithubState, githubWith } from './scanners/github/fake.ts';
export { type FakeOptions, type FakeRequest, type FakeResponse, type FakeVendor, type Fault, type RunningFake, serveFake } from './testing/fake-server.ts';
