import type { ReportFormat, ReportHead } from '../../contract.ts';
import { hasColumns, headOf } from '../../detect.ts';
import { startAbout } from '../../shared/about.ts';
import { notThisFormat } from '../../shared/input.ts';
import { xmlElements } from '../../xml/elements.ts';
import { readCsv } from './csv.ts';
import { checkOf, readXml } from './xml.ts';

const EXPECTS =
  'Greenbone XML with the root element report, get_reports_response or get_results_response, or CSV with the columns "IP", "NVT Name" and "NVT OID"';

export const openvas: ReportFormat = {
  id: 'openvas',
  name: 'OpenVAS / Greenbone',
  description: 'Greenbone (OpenVAS) scan reports, exported as XML or CSV results, or fetched through GMP',
  documentation: 'https://docs.greenbone.net/API/GMP/gmp.html#command_get_reports',
  expects: EXPECTS,
  assetType: 'host',
  listsAssets: isXml,
  detect: (head) => isXml(head) || isCsv(head),
  async about(input) {
    const { failed, about } = startAbout();
    if (!isXml(await headOf(input))) return about();
    let [results, counted] = [0, 0];
    const skipped = new Set<string>();
    for await (const { element, pattern } of xmlElements(input, [
      '**/report/scan_run_status',
      '**/report/result_count/filtered',
      'get_results_response/result_count/filtered',
      '**/report/results/result/@',
      'get_results_response/result/@',
      '**/report/errors/error',
      '**/report/@',
    ])) {
      if (element.name === 'result') results++;
      else if (element.name === 'filtered') counted += Number(element.text) || 0;
      else if (element.name === 'error') skipped.add(checkOf(element) ?? '');
      else if (pattern === 0 && !['', 'Done'].includes(element.text)) failed();
      // Two reports are compared. Results that both have can be left out.
      else if (element.attributes.type === 'delta') failed();
    }
    // The filter of a report also limits its rows.
    if (results < counted) failed();
    skipped.delete('');
    return skipped.size === 0 ? about() : { ...about(), skipped: [...skipped].map((rule) => ({ rule, path: null })) };
  },
  async *read(input) {
    const head = await headOf(input);
    if (isXml(head)) yield* readXml(input);
    else if (isCsv(head)) yield* readCsv(input);
    else throw notThisFormat(EXPECTS);
  },
};

/** Many tools use the root element `report`, so the file must also contain something that only Greenbone writes. */
function isXml({ xmlRoot, text }: ReportHead): boolean {
  if (xmlRoot?.name === 'get_reports_response' || xmlRoot?.name === 'get_results_response') return true;
  return xmlRoot?.name === 'report' && /<(?:gmp|omp)\b|<nvt\s+oid=|<report_format\b|<scan_run_status\b|\sformat_id=/.test(text);
}

function isCsv(head: ReportHead): boolean {
  return hasColumns(head, 'IP', 'NVT Name', 'NVT OID');
}
