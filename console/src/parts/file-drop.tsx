import { Button, FileButton } from '@mantine/core';
import { type ReactNode, useId, useState } from 'react';
import css from './file-drop.module.css';

interface FileDropProps {
  title: string;
  hint: string;
  /** The label of the button, which does the same as dropping (WCAG 2.5.7). */
  action: string;
  accept?: string;
  onFiles: (files: File[]) => void;
  children?: ReactNode;
}

/** Files are dropped or chosen. */
export function FileDrop({ title, hint, action, accept, onFiles, children }: FileDropProps) {
  const [isOver, setOver] = useState(false);
  const id = useId();
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the button inside does the same.
    <div
      className={css.drop}
      data-over={isOver || undefined}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        onFiles([...event.dataTransfer.files]);
      }}
    >
      <p>
        <strong>{title}</strong> <span className="dim">{hint}</span>
      </p>
      <FileButton onChange={(files) => onFiles(files)} multiple {...(accept === undefined ? {} : { accept })} inputProps={{ 'aria-label': action, id }}>
        {(props) => (
          <Button {...props} variant="default">
            {action}
          </Button>
        )}
      </FileButton>
      {children}
    </div>
  );
}
