import { Button, FileButton } from '@mantine/core';
import { XIcon } from '@primer/octicons-react';
import css from './trust-form.module.css';

interface Choice {
  label: string;
  hint: string;
  file: File | null;
  onFile: (file: File | null) => void;
}

/** Other packages of the same work item. They are verified with the same keys. */
export function CompareForm({ choices }: { choices: readonly Choice[] }) {
  return (
    <fieldset className={css.compare}>
      <legend>Compare with other packages of the same work item (optional)</legend>
      {choices.map(({ label, hint, file, onFile }) => (
        <div key={label} className={css.own}>
          <FileButton onChange={onFile} inputProps={{ 'aria-label': label }}>
            {(props) => (
              <Button {...props} variant="default">
                {label}
              </Button>
            )}
          </FileButton>
          {file === null ? (
            <span className="dim">{hint}</span>
          ) : (
            <Button variant="subtle" rightSection={<XIcon size={16} aria-hidden />} aria-label={`Remove ${file.name}`} onClick={() => onFile(null)}>
              {file.name}
            </Button>
          )}
        </div>
      ))}
    </fieldset>
  );
}
