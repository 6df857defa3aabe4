import { Button, PasswordInput, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { signIn } from '../api/session.ts';
import css from './form.module.css';
import { messageOf } from './states.tsx';

interface Props {
  email?: string;
  /** Another way to sign in is what the page asks for. */
  isSecond?: boolean;
  onDone: () => void;
}

/** Password managers fill it in, and pasting works (WCAG 3.3.8). */
export function SignInForm({ email: given, isSecond = false, onDone }: Props) {
  const [email, setEmail] = useState(given ?? '');
  const [password, setPassword] = useState('');
  const attempt = useMutation({ mutationFn: () => signIn(email, password), onSuccess: onDone });
  return (
    <form
      className={css.form}
      onSubmit={(event) => {
        event.preventDefault();
        attempt.mutate();
      }}
    >
      <TextInput
        label="E-mail"
        type="email"
        name="email"
        autoComplete="username"
        required
        value={email}
        onChange={({ target }) => setEmail(target.value)}
        size="sm"
      />
      <PasswordInput
        label="Password"
        name="password"
        autoComplete="current-password"
        required
        value={password}
        onChange={({ target }) => setPassword(target.value)}
        size="sm"
      />
      {attempt.error && (
        <p className="bad" role="alert">
          {messageOf(attempt.error)}
        </p>
      )}
      <Button type="submit" size="sm" variant={isSecond ? 'default' : 'filled'} loading={attempt.isPending} fullWidth>
        Sign in
      </Button>
    </form>
  );
}
