import { useNavigate } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import css from './drop-anywhere.module.css';

const hasFiles = ({ dataTransfer }: DragEvent): boolean => dataTransfer?.types.includes('Files') ?? false;

/**
 * Reports that are dropped on any page are imported: they only add, nothing is closed. A page that has its own use for files handles the drop first.
 * The button of the page of imports does the same (WCAG 2.5.7).
 */
export function DropAnywhere() {
  const navigate = useNavigate();
  const [isOver, setOver] = useState(false);
  useEffect(() => {
    const listening = new AbortController();
    const on = (type: 'dragover' | 'dragleave' | 'drop', listener: (event: DragEvent) => void) =>
      addEventListener(type, listener, { signal: listening.signal });
    on('dragover', (event) => {
      const isOurs = hasFiles(event) && !event.defaultPrevented;
      setOver(isOurs);
      if (isOurs) event.preventDefault();
    });
    on('dragleave', (event) => {
      if (event.relatedTarget === null) setOver(false);
    });
    on('drop', (event) => {
      setOver(false);
      if (event.defaultPrevented || !event.dataTransfer || event.dataTransfer.files.length === 0) return;
      event.preventDefault();
      const files = [...event.dataTransfer.files];
      void import('../pages/imports/uploads.ts').then(({ addUploads }) => {
        addUploads(files, {});
        void navigate({ to: '/imports' });
      });
    });
    return () => listening.abort();
  }, [navigate]);
  if (!isOver) return null;
  return (
    <div className={css.target} role="status">
      <strong>Drop reports to import them</strong>
    </div>
  );
}
