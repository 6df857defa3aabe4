import { useNavigate } from '@tanstack/react-router';
import { useApi } from '../../api/client.ts';
import { useQueryString } from '../../lists/query.ts';
import { SignInForm } from '../../parts/sign-in-form.tsx';
import { AccountFrame } from './account-frame.tsx';
import { IdentityProvider, mustChoose } from './identity-provider.tsx';

export function SignIn() {
  const [{ next, error }] = useQueryString();
  const navigate = useNavigate();
  const methods = useApi('listSignInMethods', {}, { staleTime: Number.POSITIVE_INFINITY });
  const oidc = methods.data?.oidc ?? null;
  return (
    <AccountFrame title="Sign in">
      {oidc !== null && <IdentityProvider provider={oidc} error={error} next={ownPath(next)} isOnly={methods.data?.password === false} />}
      {methods.data?.password !== false && (
        <SignInForm isSecond={oidc !== null && mustChoose(error)} onDone={() => void navigate({ href: ownPath(next), replace: true })} />
      )}
    </AccountFrame>
  );
}

/** Threat: a link to the sign-in page could lead to another site afterwards. Only paths of this one are followed. */
function ownPath(next: string | undefined): string {
  const target = new URL(next ?? '/', location.origin);
  return target.origin === location.origin ? `${target.pathname}${target.search}${target.hash}` : '/';
}
