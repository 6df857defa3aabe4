import { Button, PasswordInput, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { call } from '../../api/client.ts';
import { signedIn } from '../../api/session.ts';
import css from '../../parts/form.module.css';
import { messageOf } from '../../parts/states.tsx';
import { AccountFrame } from './account-frame.tsx';
import { takeFromFragment } from './fragment.ts';

/** Creates the first owner with the key that the service printed at its first start. */
export function Setup() {
  const navigate = useNavigate();
  const [given] = useState(() => takeFromFragment('key'));
  const create = useMutation({
    mutationFn: async (form: FormData) => {
      const text = (name: string): string => String(form.get(name) ?? '');
      await signedIn(await call('setUp', { body: { key: given || text('key'), name: text('name'), email: text('email'), password: text('password') } }));
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
          <PasswordInput label="Setup key" description="Printed at the first start of the service" name="key" required size="sm" autoComplete="off" />
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
