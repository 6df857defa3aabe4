import { useNavigate } from '@tanstack/react-router';
import { useQueryString } from '../../lists/query.ts';
import { SignInForm } from '../../parts/sign-in-form.tsx';
import { AccountFrame } from './account-frame.tsx';

export function SignIn() {
  const [{ next }] = useQueryString();
  const navigate = useNavigate();
  return (
    <AccountFrame title="Sign in">
      <SignInForm onDone={() => void navigate({ href: ownPath(next), replace: true })} />
    </AccountFrame>
  );
}

/** Threat: a link to the sign-in page could lead to another site afterwards. Only paths of this one are followed. */
function ownPath(next: string | undefined): string {
  const target = new URL(next ?? '/', location.origin);
  return target.origin === location.origin ? `${target.pathname}${target.search}${target.hash}` : '/';
}
