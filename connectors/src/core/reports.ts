import { formats, fromBuffer, type ReportItem } from '@rrs/scan-reports';

/** Reads a vendor's response with the report format of the same tool, so that an uploaded file and a connection produce the same findings. */
export async function itemsOf(format: string, text: string, where: string): Promise<ReportItem[]> {
  const reader = formats.find(({ id }) => id === format);
  if (!reader) throw new Error(`Unknown report format: ${format}`);
  const items: ReportItem[] = [];
  for await (const item of reader.read(fromBuffer(text))) {
    if ('rejection' in item) items.push({ rejection: { ...item.rejection, place: `${where} ${item.rejection.place}` } });
    else if ('observation' in item) items.push({ observation: { ...item.observation, place: `${where} ${item.observation.place}` } });
  }
  return items;
}
