import { Button } from '@mantine/core';
import type { ResultOf } from '@rrs/client';
import { useState } from 'react';
import { useChange } from '../../api/client.ts';
import { useMay } from '../../api/session.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Time } from '../../parts/time.tsx';
import { announce } from '../../parts/toast.tsx';

/** The report as it was uploaded. Its results stay when it is deleted. */
export function ReportFile({ data: { id, status, file_deleted_at, file_deleted_by } }: { data: ResultOf<'getImport'> }) {
  const may = useMay('imports:manage');
  const [isDeleting, setDeleting] = useState(false);
  const remove = useChange('deleteImportFile', ['getImport', 'listImports', 'getOrganizationUsage'], () => {
    announce('The file is deleted.');
    setDeleting(false);
  });
  if (file_deleted_at !== null)
    return (
      <span className="dim">
        Deleted by {file_deleted_by} <Time at={file_deleted_at} />
      </span>
    );
  return (
    <>
      <a href={`/api/v1/imports/${id}/file`} download>
        Download
      </a>{' '}
      {may && status !== 'queued' && status !== 'running' && (
        <Button variant="subtle" size="compact-xs" onClick={() => setDeleting(true)}>
          Delete the file
        </Button>
      )}
      {isDeleting && (
        <Dialog
          title="Delete the file"
          action="Delete the file"
          isDangerous
          onClose={() => setDeleting(false)}
          onSubmit={() => remove.mutate({ path: { id } })}
          isBusy={remove.isPending}
          error={remove.error}
        >
          <p>The import and its results stay. Evidence packages that are sealed later cannot contain the file.</p>
        </Dialog>
      )}
    </>
  );
}
