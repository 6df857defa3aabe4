type Environment = Readonly<Record<string, string | undefined>>;

/** What a CI system says about the job. */
export interface CiJob {
  /** The branch, or `pr-17`. */
  track: string | undefined;
  version: string | undefined;
  /** The branch that a pull request is for. */
  base: string | undefined;
  /** The file whose Markdown the job's page shows. */
  summary: string | undefined;
}

export function ciJob(env: Environment): CiJob {
  if (env.GITHUB_ACTIONS === 'true') {
    const pull = /^refs\/pull\/(\d+)\//.exec(env.GITHUB_REF ?? '')?.[1];
    return { ...job(pull, env.GITHUB_REF_NAME, env.GITHUB_BASE_REF), version: env.GITHUB_SHA, summary: env.GITHUB_STEP_SUMMARY };
  }
  if (env.GITLAB_CI === 'true')
    return {
      ...job(env.CI_MERGE_REQUEST_IID, env.CI_COMMIT_REF_NAME, env.CI_MERGE_REQUEST_TARGET_BRANCH_NAME),
      version: env.CI_COMMIT_SHA,
      summary: undefined,
    };
  if (env.JENKINS_URL !== undefined)
    return {
      ...job(env.CHANGE_ID, env.BRANCH_NAME ?? env.GIT_BRANCH?.replace(/^origin\//, ''), env.CHANGE_TARGET),
      version: env.GIT_COMMIT,
      summary: undefined,
    };
  return { track: undefined, version: undefined, base: undefined, summary: undefined };
}

function job(pull: string | undefined, branch: string | undefined, base: string | undefined): Pick<CiJob, 'track' | 'base'> {
  return pull ? { track: `pr-${pull}`, base: base || undefined } : { track: branch || undefined, base: undefined };
}
