import { Button, PasswordInput, TextInput } from '@mantine/core';
import { createClient } from '@rrs/client';
import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { signIn } from '../../api/session.ts';
import css from '../../parts/form.module.css';
import { messageOf } from '../../parts/states.tsx';
import { AccountFrame } from './account-frame.tsx';

/** Threat: the key could end up in a log or in the history. It stays in the fragment, which browsers never send, and is removed from the address. */
function takeKey(): string {
  const key = new URLSearchParams(location.hash.slice(1)).get('key') ?? '';
  if (key !== '') history.replaceState(null, '', location.pathname);
  return key;
}

/** Creates the first owner with the key that the service printed at its first start. */
export function Setup() {
  const navigate = useNavigate();
  const [given] = useState(takeKey);
  const create = useMutation({
    mutationFn: async (form: FormData) => {
      const [key, name, email, password] = ['key', 'name', 'email', 'password'].map((field) => String(form.get(field) ?? ''));
      const withKey = createClient({ url: location.origin, apiKey: given || key || '' });
      await withKey.call('addMember', { body: { name: name ?? '', email: email ?? '', password: password ?? '', role: 'owner' } });
      await signIn(email ?? '', password ?? '');
    },
    onSuccess: () => navigate({ to: '/', replace: true }),
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    create.mutate(new FormData(event.currentTarget));
  };
  return (
    <AccountFrame title="Create the first account">
      <p className="dim">This account owns the organization. You can invite others afterwards.</p>
      <form className={css.form} onSubmit={submit}>
        {given === '' && (
          <PasswordInput label="First owner key" description="Printed at the first start of the service" name="key" required size="sm" autoComplete="off" />
        )}
        <TextInput label="Your name" name="name" required autoComplete="name" size="sm" />
        <TextInput label="E-mail" name="email" type="email" required autoComplete="username" size="sm" />
        <PasswordInput label="Password" description="At least 12 characters" name="password" required minLength={12} autoComplete="new-password" size="sm" />
        {create.error && (
          <p className="bad" role="alert">
            {messageOf(create.error)}
          </p>
        )}
        <Button type="submit" size="sm" loading={create.isPending}>
          Create the account
        </Button>
      </form>
    </AccountFrame>
  );
}
