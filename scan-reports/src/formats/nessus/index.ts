import type { ReportFormat } from '../../contract.ts';
import { hasColumns, headOf } from '../../detect.ts';
import { notThisFormat } from '../../shared/input.ts';
import { isNessusCsv, readCsv } from './csv-report.ts';
import { readXml } from './xml-report.ts';

export const nessus: ReportFormat = {
  id: 'nessus',
  name: 'Nessus and Tenable',
  description: 'Scans of Nessus, Tenable Vulnerability Management, Security Center or Web App Scanning, exported as .nessus (XML, version 2) or CSV',
  documentation: 'https://docs.tenable.com/quick-reference/nessus-file-format/Nessus-File-Format.pdf',
  expects:
    'XML with the root element NessusClientData_v2, or CSV with the columns "Plugin ID", "Host" and "Name" (or "Plugin" and "Plugin Name", or "definition.id")',
  assetType: 'host',
  // CSV states the login only if it contains the scan information (plugin 19506). Absence in other CSV files closes nothing.
  states: ['credentials'],
  listsAssets: ({ xmlRoot }) => xmlRoot !== null,
  detect: (head) => head.xmlRoot?.name === 'NessusClientData_v2' || isNessusCsv((...names) => hasColumns(head, ...names)),
  async *read(input) {
    const head = await headOf(input);
    if (!nessus.detect(head)) throw notThisFormat(nessus.expects);
    yield* head.xmlRoot ? readXml(input) : readCsv(input, (...names) => hasColumns(head, ...names));
  },
};
