import type { ExportContext, Pages } from './export.ts';
import { writeCsv } from './findings-csv.ts';
import { writeSarif } from './findings-sarif.ts';
import { writeCycloneDx, writeOpenVex } from './findings-vex.ts';

export interface ExportFormat {
  mediaType: string;
  extension: string;
  /** Whether a document without findings is valid. */
  mayBeEmpty: boolean;
  /** Yields the document in parts, so that memory holds one page at most. */
  write(pages: Pages, context: ExportContext): AsyncIterable<string>;
}

export const exportFormats = {
  csv: { mediaType: 'text/csv', extension: 'csv', mayBeEmpty: true, write: writeCsv },
  ndjson: { mediaType: 'application/x-ndjson', extension: 'ndjson', mayBeEmpty: true, write: writeNdjson },
  sarif: { mediaType: 'application/sarif+json', extension: 'sarif', mayBeEmpty: true, write: writeSarif },
  'cyclonedx-vex': { mediaType: 'application/vnd.cyclonedx+json', extension: 'cdx.json', mayBeEmpty: true, write: writeCycloneDx },
  openvex: { mediaType: 'application/json', extension: 'openvex.json', mayBeEmpty: false, write: writeOpenVex },
} as const satisfies Record<string, ExportFormat>;

async function* writeNdjson(pages: Pages): AsyncGenerator<string> {
  for await (const page of pages) yield page.map((finding) => `${JSON.stringify(finding)}\n`).join('');
}
