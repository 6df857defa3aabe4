import { expect, it } from 'vitest';
import { ciJob } from './ci-environment.ts';

it.each([
  [
    'a branch on GitHub',
    { GITHUB_ACTIONS: 'true', GITHUB_REF: 'refs/heads/main', GITHUB_REF_NAME: 'main', GITHUB_BASE_REF: '', GITHUB_SHA: 'abc', GITHUB_STEP_SUMMARY: '/s' },
    { track: 'main', base: undefined, version: 'abc', summary: '/s' },
  ],
  [
    'a pull request on GitHub',
    { GITHUB_ACTIONS: 'true', GITHUB_REF: 'refs/pull/17/merge', GITHUB_REF_NAME: '17/merge', GITHUB_BASE_REF: 'main' },
    { track: 'pr-17', base: 'main' },
  ],
  ['a branch on GitLab', { GITLAB_CI: 'true', CI_COMMIT_REF_NAME: 'main', CI_COMMIT_SHA: 'abc' }, { track: 'main', base: undefined, version: 'abc' }],
  [
    'a merge request on GitLab',
    { GITLAB_CI: 'true', CI_COMMIT_REF_NAME: 'x', CI_MERGE_REQUEST_IID: '17', CI_MERGE_REQUEST_TARGET_BRANCH_NAME: 'main' },
    { track: 'pr-17', base: 'main' },
  ],
  ['a branch on Jenkins', { JENKINS_URL: 'https://ci', GIT_BRANCH: 'origin/main', GIT_COMMIT: 'abc' }, { track: 'main', version: 'abc' }],
  ['a pull request on Jenkins', { JENKINS_URL: 'https://ci', BRANCH_NAME: 'PR-17', CHANGE_ID: '17', CHANGE_TARGET: 'main' }, { track: 'pr-17', base: 'main' }],
  ['no CI', {}, { track: undefined, base: undefined, version: undefined, summary: undefined }],
])('%s', (_, env, expected) => {
  expect(ciJob(env)).toMatchObject(expected);
});
