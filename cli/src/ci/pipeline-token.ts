import { UsageError } from '../command.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** The token is requested again before it expires. */
const SECONDS_BEFORE_EXPIRY = 60;

/**
 * The pipeline's own token, with which no API key is needed: RRS_TOKEN, or on GitHub Actions one that is requested for the organization in
 * RRS_ORGANIZATION. Undefined if there is neither.
 */
export function pipelineToken(env: Environment): string | (() => Promise<string>) | undefined {
  if (env.RRS_TOKEN) return env.RRS_TOKEN;
  const { ACTIONS_ID_TOKEN_REQUEST_URL: url, ACTIONS_ID_TOKEN_REQUEST_TOKEN: secret, RRS_ORGANIZATION: organization } = env;
  if (!organization) return undefined;
  if (!url || !secret) {
    if (env.GITHUB_ACTIONS !== 'true') return undefined;
    throw new UsageError('GitHub gives this job no token. Add "permissions: { id-token: write, contents: read }" to the job, or set RRS_API_KEY.');
  }
  let current: { token: string; until: number } | undefined;
  return async () => {
    if (current === undefined || current.until < Date.now()) {
      const token = await request(`${url}&audience=${encodeURIComponent(`rrs:${organization}`)}`, secret);
      current = { token, until: expiryOf(token) - SECONDS_BEFORE_EXPIRY * 1000 };
    }
    return current.token;
  };
}

async function request(url: string, secret: string): Promise<string> {
  const response = await fetch(url, { headers: { authorization: `Bearer ${secret}` } });
  const { value } = (await response.json().catch(() => ({}))) as { value?: string };
  if (!response.ok || value === undefined)
    throw new Error(`GitHub issued no token for this job (status ${response.status}). Run the job again, or set RRS_API_KEY.`);
  return value;
}

function expiryOf(token: string): number {
  const [, payload = ''] = token.split('.');
  const { exp = 0 } = JSON.parse(Buffer.from(payload, 'base64url').toString()) as { exp?: number };
  return exp * 1000;
}
