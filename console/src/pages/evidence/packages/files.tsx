import { Copy } from '../../../parts/copy.tsx';
import { Section } from '../../../parts/page.tsx';
import { SimpleTable } from '../../../parts/simple-table.tsx';
import { bytes, count } from '../../../parts/words.ts';
import { formatWords } from '../format-words.ts';
import type { Package } from './package.ts';

const MAX_FILES = 500;

/** Downloads, and every file inside the package with its hash. */
export function Files({ found: { package_id, downloads, files } }: { found: Package }) {
  return (
    <>
      <Section title="Downloads">
        <SimpleTable
          label="Downloads"
          rows={downloads}
          keyOf={({ format }) => format}
          columns={[
            {
              label: 'File',
              cell: ({ format, url }) => (
                <a href={url} download>
                  {formatWords(format)}
                </a>
              ),
            },
            { label: 'Size', align: 'end', cell: ({ size }) => <span className="nowrap">{bytes(size)}</span> },
            { label: 'SHA-256', cell: ({ sha256 }) => <Copy text={sha256} /> },
          ]}
        />
        <p className="dim">
          For people who verify offline:{' '}
          <a href={`/api/v1/riskops-evidence/packages/${package_id}/status-statement`} download={`status-${package_id}.json`}>
            a statement, signed now,
          </a>{' '}
          that says whether the package is current or superseded.
        </p>
      </Section>
      <Section title={`Inside the package: ${count(files.length, 'file')}`}>
        <SimpleTable
          label="Files inside the package"
          rows={files.slice(0, MAX_FILES)}
          keyOf={({ path }) => path}
          columns={[
            { label: 'Path', cell: ({ path }) => <code>{path}</code> },
            { label: 'Type', cell: ({ media_type }) => <span className="dim">{media_type}</span> },
            { label: 'Size', align: 'end', cell: ({ size }) => <span className="nowrap">{bytes(size)}</span> },
            { label: 'SHA-256', cell: ({ sha256 }) => <Copy text={sha256} /> },
          ]}
        />
        {files.length > MAX_FILES && <p className="dim">The manifest in the package lists {count(files.length - MAX_FILES, 'more file')}.</p>}
      </Section>
    </>
  );
}
