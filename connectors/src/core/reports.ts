import { formats, fromBuffer, type ReportItem } from '@rrs/scan-reports';

/** Reads what a vendor answers as the report format of the same tool does, so that a file and a connection say the same. */
export async function itemsOf(format: string, text: string, where: string): Promise<ReportItem[]> {
  const reader = formats.find(({ id }) => id === format);
  if (!reader) throw new Error(`there is no report format ${format}`);
  const items: ReportItem[] = [];
  for await (const item of reader.read(fromBuffer(text))) {
    if ('rejection' in item) items.push({ rejection: { ...item.rejection, place: `${where} ${item.rejection.place}` } });
    else items.push({ observation: { ...item.observation, place: `${where} ${item.observation.place}` } });
  }
  return items;
}
