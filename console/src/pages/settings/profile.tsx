import { Button, Checkbox, NativeSelect, PasswordInput } from '@mantine/core';
import { type FormEvent, useId } from 'react';
import { useChange } from '../../api/client.ts';
import { useMe } from '../../api/session.ts';
import { Facts, Section } from '../../parts/page.tsx';
import { messageOf } from '../../parts/states.tsx';
import { announce } from '../../parts/toast.tsx';
import { term } from '../../parts/words.ts';
import { type Preferences, setPreference, usePreferences } from '../../theme/preferences.ts';
import css from './profile.module.css';
import { SettingsPage } from './settings-page.tsx';

export function Profile() {
  const me = useMe();
  return (
    <SettingsPage title="Profile">
      <Section title={me.name}>
        <Facts
          rows={[
            ['E-mail', me.email],
            ['Role', term(me.role)],
            ['Organization', me.organization.name],
          ]}
        />
      </Section>
      <Section title="Appearance and keys">
        <div className={css.fields}>
          <Choice name="theme" label="Theme" options={{ system: 'Same as the system', light: 'Light', dark: 'Dark' }} />
          <Choice name="density" label="Rows of lists" options={{ compact: 'Compact', normal: 'Normal', comfortable: 'Comfortable' }} />
          <Choice name="letterKeys" label="Single letters as shortcuts" options={{ on: 'On', off: 'Off' }} />
        </div>
        <p className={`dim ${css.where}`}>Stored in this browser.</p>
      </Section>
      {me.type === 'member' && (
        <Section title="Password">
          <ChangePassword />
        </Section>
      )}
    </SettingsPage>
  );
}

function Choice<Name extends keyof Preferences>({ name, label, options }: { name: Name; label: string; options: Record<Preferences[Name], string> }) {
  const value = usePreferences()[name];
  return (
    <NativeSelect
      label={label}
      value={value}
      data={Object.entries(options).map(([option, text]) => ({ value: option, label: String(text) }))}
      onChange={({ target }) => setPreference(name, target.value as Preferences[Name])}
    />
  );
}

function ChangePassword() {
  const id = useId();
  const change = useChange('changeOwnPassword', ['getMe'], () => announce('The password is changed. Your other sessions ended.'));
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = event.currentTarget;
    const data = new FormData(form);
    change.mutate(
      { body: { current_password: String(data.get('current')), new_password: String(data.get('new')), revoke_api_keys: data.get('revoke') !== null } },
      { onSuccess: () => form.reset() },
    );
  };
  return (
    <form className={css.fields} onSubmit={submit} aria-labelledby={id}>
      <PasswordInput label="Current password" name="current" autoComplete="current-password" required />
      <PasswordInput label="New password" description="At least 12 characters" name="new" autoComplete="new-password" minLength={12} required />
      <Checkbox name="revoke" label="Also revoke my API keys" description="If somebody else may know your password" />
      {change.error && (
        <p className="bad" role="alert">
          {messageOf(change.error)}
        </p>
      )}
      <Button type="submit" loading={change.isPending} id={id}>
        Change the password
      </Button>
    </form>
  );
}
