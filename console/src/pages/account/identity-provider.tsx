import { Button, TextInput } from '@mantine/core';
import type { ResultOf } from '@rrs/client';
import { useState } from 'react';
import { writeQuery } from '../../lists/query.ts';
import css from '../../parts/form.module.css';

type Provider = NonNullable<ResultOf<'listSignInMethods'>['oidc']>;

/** What happened at the identity provider, and what to do. The codes are those of the service. */
const reasons: Readonly<Record<string, (name: string) => string>> = {
  expired: () => 'The sign-in took longer than ten minutes, or began in another browser. Sign in again.',
  denied: (name) => `${name} refused the sign-in. Sign in again, or ask the administrators of ${name} whether your account may use this service.`,
  invalid_response: (name) =>
    `The response of ${name} is not valid. Sign in again. If that does not help, ask the operator of this service: its log has the reason.`,
  provider_unavailable: (name) => `${name} does not respond. Sign in again in a few minutes. The log of this service has the reason.`,
  no_member: () => 'You are not a member yet. Ask an administrator of this service to add your e-mail address, then sign in again.',
  email_not_verified: (name) =>
    `${name} does not say that your e-mail address is verified. Verify it there, or ask the operator of this service, and sign in again.`,
  choose_organization: () => 'You are a member of several organizations. Enter the short name of the one that you want to use.',
};

/** Whether the person is known, and only has to say which organization they mean. */
export const mustChoose = (error: string | undefined): boolean => error === 'choose_organization';

interface Props {
  provider: Provider;
  /** Why the last sign-in failed. */
  error: string | undefined;
  next: string;
  isOnly: boolean;
}

/** Signing in at the identity provider. The browser leaves the page and comes back to `next`, or here with an error. */
export function IdentityProvider({ provider: { name, start_url }, error, next, isOnly }: Props) {
  const [organization, setOrganization] = useState('');
  const href = `${start_url}${writeQuery({ next, organization: organization.trim() })}`;
  const asks = mustChoose(error);
  return (
    <form
      className={css.form}
      onSubmit={(event) => {
        // The policy of the page allows no form to lead to another site, even by a redirect.
        event.preventDefault();
        location.assign(href);
      }}
    >
      {error !== undefined && (
        <p className="bad" role="alert">
          {reasons[error]?.(name) ?? 'The sign-in failed. Sign in again.'}
        </p>
      )}
      {asks && <TextInput label="Organization" required value={organization} onChange={({ target }) => setOrganization(target.value)} size="sm" />}
      {asks ? (
        <Button type="submit" size="sm" variant="filled" fullWidth>
          Sign in with {name}
        </Button>
      ) : (
        <Button component="a" href={href} size="sm" variant={isOnly ? 'filled' : 'default'} fullWidth>
          Sign in with {name}
        </Button>
      )}
    </form>
  );
}
