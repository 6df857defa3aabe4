import { SimpleTable } from '../simple-table.tsx';
import { Time } from '../time.tsx';

/** A field that somebody else changed while it was being edited. */
export interface Difference {
  field: string;
  /** As it is stored now. */
  theirs: string;
  yours: string;
}

/** Somebody else was faster: who, when, and what differs. Nothing is lost until the person decides. */
export function Conflict({ by, at, differences }: { by: string | null; at: string; differences: readonly Difference[] }) {
  return (
    <div role="alert">
      <p>
        {by === null ? 'Somebody' : by} changed this <Time at={at} />. {differences.length === 0 ? 'Your values are the same.' : 'Compare before you save.'}
      </p>
      {differences.length > 0 && (
        <SimpleTable
          label="Both versions"
          rows={differences}
          keyOf={({ field }) => field}
          columns={[
            { label: 'Field', cell: ({ field }) => field },
            { label: 'Now', cell: ({ theirs }) => theirs || '–' },
            { label: 'Yours', cell: ({ yours }) => <strong>{yours || '–'}</strong> },
          ]}
        />
      )}
    </div>
  );
}
