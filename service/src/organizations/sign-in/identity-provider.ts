import { type CodeFlow, type CodeFlowOptions, createCodeFlow } from './code-flow.ts';
import { openIssuer } from './issuer.ts';
import { createAccessTokenVerifier, type OidcOptions, type VerifyAccessToken } from './oidc.ts';

interface Options extends Omit<OidcOptions, 'open' | 'audience'>, Omit<CodeFlowOptions, 'open' | 'clientId'> {
  issuer: string | null;
  audience: string | null;
  clientId: string | null;
}

interface IdentityProvider {
  verifyAccessToken: VerifyAccessToken | null;
  codeFlow: CodeFlow | null;
}

/** What the configured OpenID Connect issuer is used for: access tokens of programs, people who sign in, or both. */
export function openIdentityProvider({ issuer, audience, clientId, ...options }: Options): IdentityProvider {
  if (issuer === null) return { verifyAccessToken: null, codeFlow: null };
  const open = openIssuer(issuer);
  return {
    verifyAccessToken: audience === null ? null : createAccessTokenVerifier({ ...options, open, audience }),
    codeFlow: clientId === null ? null : createCodeFlow({ ...options, open, clientId }),
  };
}
