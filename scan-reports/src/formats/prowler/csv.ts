import type { ReportHead } from '../../contract.ts';
import { date, str } from '../../shared/read.ts';
import type { Check } from './check.ts';
import { checkIn } from './json.ts';

export interface CsvShape {
  delimiter: string;
  old: boolean;
  /** Column names in the spelling of the file, which identify the header. */
  required: readonly string[];
}

/** Reads the delimiter from the header, because texts below it may have more commas than a row has semicolons. */
export function csvShapeOf(head: ReportHead): CsvShape | null {
  if (head.jsonShape !== null || head.xmlRoot !== null) return null;
  for (const line of head.text.split(/\r?\n/, 20)) {
    for (const delimiter of [';', ',']) {
      const names = line.split(delimiter).map((name) => name.trim().replace(/^"(.*)"$/, '$1'));
      const written = (...wanted: string[]): string[] => names.filter((name) => wanted.includes(name.toUpperCase()));
      const modern = written('CHECK_ID', 'STATUS', 'STATUS_EXTENDED', 'SEVERITY');
      if (modern.length === 4) return { delimiter, old: false, required: modern };
      const old = written('ACCOUNT_NUM', 'TITLE_TEXT', 'CHECK_RESULT', 'RESULT');
      if (old.length === 3) return { delimiter, old: true, required: old };
    }
  }
  return null;
}

export function rowOf(cells: Readonly<Record<string, string>>, place: string, { old }: CsvShape): Check {
  // Version 3 writes column names in lower case.
  const cell = (...names: string[]): string | undefined => names.map((name) => str(cells[name]) ?? str(cells[name.toLowerCase()])).find(Boolean);
  return old ? oldRowOf(cell, place) : modernRowOf(cell, place);
}

type Cell = (...names: string[]) => string | undefined;

/** Version 2. Before 2.4, there are fewer columns with other names. */
function oldRowOf(cell: Cell, place: string): Check {
  return {
    place,
    ...checkIn(cell('TITLE_TEXT'), cell('TITLE_ID')),
    message: cell('CHECK_RESULT_EXTENDED', 'NOTES'),
    status: cell('CHECK_RESULT', 'RESULT'),
    severity: cell('CHECK_SEVERITY'),
    provider: 'aws',
    account: cell('ACCOUNT_NUM'),
    region: cell('REGION'),
    resource: cell('CHECK_RESOURCE_ID', 'RESOURCE_ID'),
    risk: cell('CHECK_RISK'),
    solution: cell('CHECK_REMEDIATION'),
    references: [cell('CHECK_DOC')],
    seen: date(cell('PROWLER_START_TIME')),
    tags: [cell('CHECK_SERVICENAME'), cell('CHECK_CAF_EPIC')],
  };
}

/** Version 3 and later. */
function modernRowOf(cell: Cell, place: string): Check {
  return {
    place,
    id: cell('CHECK_ID'),
    title: cell('CHECK_TITLE'),
    message: cell('STATUS_EXTENDED'),
    status: cell('STATUS'),
    muted: /^true$/i.test(cell('MUTED') ?? ''),
    severity: cell('SEVERITY'),
    uid: cell('FINDING_UID', 'FINDING_UNIQUE_ID'),
    provider: cell('PROVIDER')?.toLowerCase(),
    account: cell('ACCOUNT_UID', 'ACCOUNT_ID', 'SUBSCRIPTION', 'PROJECT_ID'),
    region: cell('REGION', 'LOCATION', 'NAMESPACE'),
    resource: cell('RESOURCE_UID', 'RESOURCE_ARN', 'RESOURCE_ID'),
    resourceName: cell('RESOURCE_NAME'),
    description: cell('DESCRIPTION'),
    risk: cell('RISK'),
    solution: cell('REMEDIATION_RECOMMENDATION_TEXT'),
    references: [cell('RELATED_URL'), cell('REMEDIATION_RECOMMENDATION_URL'), cell('ADDITIONAL_URLS')],
    seen: date(cell('TIMESTAMP', 'ASSESSMENT_START_TIME')),
    tags: [cell('SERVICE_NAME'), cell('CATEGORIES')],
    version: cell('PROWLER_VERSION'),
  };
}
