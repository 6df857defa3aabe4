import { formats, fromBuffer, type ReportItem } from '@rrs/scan-reports';
import type { ScanOfAsset } from './contract.ts';

interface ReadPage {
  items: ReportItem[];
  /** What the page states about the scans of single assets. A statement about the whole report would hold for this page only. */
  scans: ScanOfAsset[];
}

/** Reads a vendor's response with the report format of the same tool, so that an uploaded file and a connection produce the same findings. */
export async function readPage(format: string, text: string, where: string): Promise<ReadPage> {
  const reader = formats.find(({ id }) => id === format);
  if (!reader) throw new Error(`Unknown report format: ${format}`);
  const page: ReadPage = { items: [], scans: [] };
  for await (const item of reader.read(fromBuffer(text))) {
    if ('rejection' in item) page.items.push({ rejection: { ...item.rejection, place: `${where} ${item.rejection.place}` } });
    else if ('observation' in item) page.items.push({ observation: { ...item.observation, place: `${where} ${item.observation.place}` } });
    else if (item.run.asset) page.scans.push({ ...item.run, asset: item.run.asset });
  }
  return page;
}

export async function itemsOf(format: string, text: string, where: string): Promise<ReportItem[]> {
  return (await readPage(format, text, where)).items;
}
