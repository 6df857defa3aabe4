import { csvColumns } from '../fields/derive.ts';
import { headerRow, row } from './csv.ts';
import type { Pages } from './export.ts';

export async function* writeCsv(pages: Pages): AsyncGenerator<string> {
  yield headerRow(csvColumns);
  for await (const page of pages) yield page.map((finding) => row(csvColumns, finding)).join('');
}
