import type { ReportFormat } from '../../contract.ts';
import { csvEnd, csvRows } from '../../csv/rows.ts';
import { hasColumns, headOf } from '../../detect.ts';
import { exportedObservations, LOCATION_FIELDS } from '../../shared/exported.ts';
import { notThisFormat } from '../../shared/input.ts';
import { RecordError, record } from '../../shared/normalize.ts';
import type { Obj } from '../../shared/read.ts';

export const rrsCsv: ReportFormat = {
  id: 'rrs_csv',
  name: 'Exported findings (CSV)',
  description: 'CSV export of this service: `GET /findings/export?format=csv`',
  documentation: 'docs/exports.md',
  expects: 'a CSV export of this service, with the columns id, title, status, severity, risk_score, asset_type and asset_name',
  assetType: 'other',
  detect: (head) => hasColumns(head, ...REQUIRED),
  async *read(input) {
    if (!hasColumns(await headOf(input), ...REQUIRED)) throw notThisFormat(rrsCsv.expects);
    const end = csvEnd();
    for await (const { cells, place } of csvRows(input, REQUIRED, { end })) yield* record(place, () => exportedObservations(findingOf(cells), place));
    yield* end.facts();
  },
};

const REQUIRED = ['id', 'title', 'status', 'severity', 'risk_score', 'asset_type', 'asset_name'];
const LISTS = ['vulnerability_ids', 'cwes', 'references', 'sources', 'tags'];

/** The finding of a row, in the shape of the NDJSON export. */
function findingOf(cells: Readonly<Record<string, string>>): Obj {
  const texts = Object.fromEntries(Object.entries(cells).map(([name, cell]) => [name, unescaped(cell)]));
  return {
    ...texts,
    ...Object.fromEntries(LISTS.map((name) => [name, (texts[name] ?? '').split('; ')])),
    asset: { id: texts.asset_id, type: texts.asset_type, name: texts.asset_name },
    location: Object.fromEntries(LOCATION_FIELDS.map((name) => [name, texts[name]])),
    cvss: { vector: texts.cvss_vector, score: texts.cvss_score, version: texts.cvss_version },
    epss: { score: texts.epss },
    kev: { listed: texts.kev },
    occurrences: occurrencesIn(texts.occurrences),
  };
}

function occurrencesIn(json: string | undefined): unknown {
  try {
    return JSON.parse(json || '[]');
  } catch {
    throw new RecordError('occurrences is not valid JSON. Leave the cell as it is, or empty it');
  }
}

/** Exports put an apostrophe before texts that a spreadsheet would take for a formula. */
function unescaped(cell: string): string {
  return /^'+[=+\-@\t\r\n]/.test(cell) ? cell.slice(1) : cell;
}
