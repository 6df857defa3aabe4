import { Button, PasswordInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { call, useApi } from '../../api/client.ts';
import { signedIn } from '../../api/session.ts';
import css from '../../parts/form.module.css';
import { messageOf, Show } from '../../parts/states.tsx';
import { AccountFrame } from './account-frame.tsx';
import { takeFromFragment } from './fragment.ts';

/** A member chooses a password that no administrator knows. */
export function Invitation() {
  const navigate = useNavigate();
  const [token] = useState(() => takeFromFragment('token'));
  const invitation = useApi('getInvitation', { path: { token } });
  const accept = useMutation({
    mutationFn: async (form: FormData) => signedIn(await call('acceptInvitation', { path: { token }, body: { password: String(form.get('password') ?? '') } })),
    onSuccess: () => navigate({ to: '/', replace: true }),
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    accept.mutate(new FormData(event.currentTarget));
  };
  return (
    <AccountFrame title="Choose your password">
      <Show query={invitation}>
        {({ email, name, organization }) => (
          <form className={css.form} onSubmit={submit}>
            <p>
              {name}, {email}, in {organization.name}
            </p>
            <input type="hidden" name="username" value={email} autoComplete="username" />
            <PasswordInput
              label="Password"
              description="At least 12 characters"
              name="password"
              required
              minLength={12}
              autoComplete="new-password"
              size="sm"
            />
            {accept.error && (
              <p className="bad" role="alert">
                {messageOf(accept.error)}
              </p>
            )}
            <Button type="submit" size="sm" loading={accept.isPending}>
              Save and sign in
            </Button>
          </form>
        )}
      </Show>
    </AccountFrame>
  );
}
