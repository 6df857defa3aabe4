import type { ReportInput, ReportItem } from '../../contract.ts';
import { record } from '../../shared/normalize.ts';
import { date, str } from '../../shared/read.ts';
import { recordText, type XmlRecord, xmlRecords } from '../../xml/records.ts';
import { type Alert, alertOf } from './alert.ts';

const TEXTS = ['pluginid', 'alertRef', 'alert', 'name', 'riskcode', 'riskdesc', 'confidence', 'desc', 'otherinfo', 'solution', 'reference', 'cweid'];
const INSTANCE = ['instances/instance/uri', 'instances/instance/method', 'instances/instance/param'];

export async function* readXml(input: ReportInput): AsyncGenerator<ReportItem> {
  for await (const found of xmlRecords(input, 'OWASPZAPReport/site/alerts/alertitem', [...TEXTS, ...INSTANCE, 'tags/tag/tag'])) {
    yield* record(found.place, () => alertOf(fromXml(found)));
  }
}

function fromXml(found: XmlRecord): Alert {
  const [report, site] = found.parents;
  const column = (field: string): (string | undefined)[] => found.fields.get(field)?.map(({ text }) => str(text)) ?? [];
  const [uris = [], methods = [], params = []] = INSTANCE.map(column);
  // If an element is missing in one instance, the columns no longer line up and are dropped.
  const aligned = <Value>(values: Value[]): Value[] => (values.length === uris.length ? values : []);
  const [ownMethods, ownParams] = [aligned(methods), aligned(params)];
  return {
    place: found.place,
    site: str(site?.attributes.name) ?? str(site?.attributes.host),
    generated: date(report?.attributes.created) ?? date(report?.attributes.generated),
    text: (name) => str(recordText(found, name)),
    instances: uris.map((uri, index) => ({ uri, method: ownMethods[index], param: ownParams[index] })),
    tags: column('tags/tag/tag').flatMap((tag) => tag ?? []),
  };
}
