import type { Observation, ReportEntry, ReportInput } from '../../contract.ts';
import { csvEnd, csvRows } from '../../csv/rows.ts';
import { hostAsset, idsIn, isIp, observation, RecordError, record, required } from '../../shared/normalize.ts';
import { epssOf, ratingOf } from '../../shared/ratings.ts';
import { count, date, num, str } from '../../shared/read.ts';
import { fixStateOfSolution, isFalsePositive, severityOfThreat, softwareIn } from './result.ts';

export async function* readCsv(input: ReportInput): AsyncGenerator<ReportEntry> {
  const end = csvEnd();
  for await (const { cells, place } of csvRows(input, ['IP', 'NVT Name', 'NVT OID'], { end })) yield* record(place, () => rowOf(cells, place));
  yield* end.facts();
}

function rowOf(cells: Readonly<Record<string, string>>, place: string): Observation {
  const cell = (name: string): string | undefined => str(cells[name]);
  const rule = required(cell('NVT OID') ?? cell('NVT Name'), 'NVT OID');
  const [ip, hostname] = [cell('IP'), cell('Hostname')];
  if (ip === undefined && hostname === undefined) throw new RecordError('IP is missing');
  const score = num(cell('CVSS'));
  const port = count(cell('Port'));
  return observation({
    place,
    tool: 'openvas',
    rule,
    title: cell('NVT Name') ?? rule,
    description: uniqueTexts(cell('Summary'), cell('Specific Result'), cell('Vulnerability Insight'), cell('Impact'), cell('Affected Software/OS')),
    solution: cell('Solution'),
    severity: severityOfThreat(cell('Severity'), score),
    tool_severity: cell('Severity') ?? cell('CVSS'),
    vulnerability_ids: idsIn(rule, cell('CVEs')),
    cvss: ratingOf(undefined, score),
    references: cell('Other References')?.match(/https?:\/\/[^\s,]+/g) ?? [],
    asset: hostAsset({ ...(ip && !isIp(ip) ? { given: ip } : { ip }), ...(hostname?.includes('.') ? { fqdn: hostname } : { hostname }) }),
    location: {
      port,
      protocol: port === undefined ? undefined : cell('Port Protocol')?.toLowerCase(),
      ...(/^CVE-/i.test(rule) ? softwareIn(cell('Product Detection Result') ?? cell('Specific Result')) : {}),
    },
    suppressed: isFalsePositive(cell('Severity'), score),
    last_seen: date(cell('Timestamp')),
    epss: epssOf(cell('EPSS') ?? cell('EPSS Score') ?? cell('Max EPSS') ?? cell('Max EPSS Score'), cell('EPSS Percentile') ?? cell('Max EPSS Percentile')),
    fix_state: fixStateOfSolution(cell('Solution Type')),
  });
}

/** The summary of a matched CVE repeats its result. */
function uniqueTexts(...texts: (string | undefined)[]): string {
  return [...new Set(texts.filter(Boolean))].join('\n\n');
}
