import { Button, Checkbox, FileButton, TextInput } from '@mantine/core';
import { XIcon } from '@primer/octicons-react';
import type { ReactNode } from 'react';
import { Section } from '../../../parts/page.tsx';
import css from './trust-form.module.css';
import { sortFiles, type TrustChoice } from './use-trust.ts';

/** The result is only as good as the keys, so the person chooses them. */
export function TrustForm({ choice }: { choice: TrustChoice }) {
  const { usesService, setUsesService, given, add, remove } = choice;
  const choose = async (files: readonly File[]) => add((await sortFiles(files)).given);
  return (
    <Section title="What you trust">
      <div className={css.form}>
        <Checkbox
          checked={usesService}
          onChange={({ target }) => setUsesService(target.checked)}
          label="The keys that this service publishes"
          description={<Published choice={choice} />}
        />
        <div className={css.own}>
          <FileButton onChange={(files) => void choose(files)} multiple inputProps={{ 'aria-label': 'Keys, certificates and checkpoints' }}>
            {(props) => (
              <Button {...props} variant="default">
                Add your own keys
              </Button>
            )}
          </FileButton>
          <span className="dim">
            Key lists, public keys, certificates of time-stamping authorities, checkpoints, consistency proofs, keys of witnesses, a status statement
          </span>
        </div>
        {given.length > 0 && (
          <ul className={css.files} aria-label="Your files">
            {given.map(({ name }) => (
              <li key={name}>
                <code>{name}</code>
                <button type="button" onClick={() => remove(name)} aria-label={`Remove ${name}`}>
                  <XIcon size={12} />
                </button>
              </li>
            ))}
          </ul>
        )}
        <details>
          <summary>Whose package it must be</summary>
          <div className={css.owner}>
            <Committed label="Organization id" value={choice.organization} onCommit={choice.setOrganization} description="Reject packages of others" />
            <Committed label="Log" value={choice.origin} onCommit={choice.setOrigin} description="Name of the log, or the host of its service" />
          </div>
        </details>
      </div>
    </Section>
  );
}

function Published({ choice: { keys } }: { choice: TrustChoice }): ReactNode {
  if (keys.error) return 'The keys could not be read. Add them as files.';
  const current = keys.data?.keys.find(({ use, valid_to, revoked_at }) => use === 'package' && valid_to === null && revoked_at === null);
  if (current === undefined) return 'Compare their fingerprints with those that you received in another way.';
  return (
    <>
      Compare the fingerprint with the one that you received in another way: <code className={css.fingerprint}>{current.key_id}</code>
    </>
  );
}

/** A field that counts when it is left or Enter is pressed: each change verifies the package again. */
function Committed({ value, onCommit, ...field }: { label: string; description: string; value: string; onCommit: (value: string) => void }) {
  return (
    <TextInput
      {...field}
      defaultValue={value}
      autoComplete="off"
      spellCheck={false}
      onBlur={({ target }) => onCommit(target.value.trim())}
      onKeyDown={({ key, currentTarget }) => {
        if (key === 'Enter') onCommit(currentTarget.value.trim());
      }}
    />
  );
}
