/** For tests: vendors as HTTP servers of our own, written from their documentation, with their ways of being broken. */

export { fakes } from './fake-registry.ts';
export { type GithubState, githubWith } from './scanners/github/fake.ts';
export { type FakeOptions, type FakeRequest, type FakeVendor, type Fault, serveFake } from './testing/fake-server.ts';
