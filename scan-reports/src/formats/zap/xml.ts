import type { Asset, ReportEntry, ReportInput } from '../../contract.ts';
import { record, webAsset } from '../../shared/normalize.ts';
import { date, str } from '../../shared/read.ts';
import { runEntry } from '../../shared/run.ts';
import { recordText, type XmlRecord, xmlRecords } from '../../xml/records.ts';
import { type Alert, alertsOf, type Instance } from './alert.ts';

const TEXTS = [
  'pluginid',
  'alertRef',
  'alert',
  'name',
  'riskcode',
  'riskdesc',
  'confidence',
  'desc',
  'otherinfo',
  'solution',
  'reference',
  'cweid',
  'count',
  'systemic',
];
const INSTANCE = ['uri', 'method', 'param', 'attack', 'evidence'] as const;
const ALERT = 'OWASPZAPReport/site/alerts/alertitem';
const FIELDS = [...TEXTS, ...INSTANCE.map((field) => `instances/instance/${field}`), 'tags/tag/tag'];

export async function* readXml(input: ReportInput): AsyncGenerator<ReportEntry> {
  const sites: (Asset | null)[] = [];
  let report: Readonly<Record<string, string>> = {};
  const tags = {
    OWASPZAPReport: (attributes: typeof report) => {
      report = attributes;
    },
    'OWASPZAPReport/site': ({ name, host }: typeof report) => {
      sites.push(webAsset(str(name) ?? str(host)));
    },
  };
  for await (const found of xmlRecords(input, ALERT, FIELDS, tags)) {
    yield* record(found.place, () => alertsOf(fromXml(found)));
  }
  yield* runEntry({ tool_version: report.version, finished_at: generatedAt(report) });
  for (const asset of sites) yield* runEntry({ asset });
}

export async function* xmlAlerts(input: ReportInput): AsyncGenerator<Alert> {
  for await (const found of xmlRecords(input, ALERT, FIELDS)) yield fromXml(found);
}

function fromXml(found: XmlRecord): Alert {
  const [report, site] = found.parents;
  return {
    place: found.place,
    site: str(site?.attributes.name) ?? str(site?.attributes.host),
    generated: generatedAt(report?.attributes ?? {}),
    text: (name) => str(recordText(found, name)),
    instances: instancesOf(found),
    tags: found.fields.get('tags/tag/tag')?.flatMap(({ text }) => str(text) ?? []) ?? [],
  };
}

function instancesOf({ fields, owners }: XmlRecord): Instance[] {
  const instances = new Map<number, Instance>();
  for (const field of INSTANCE) {
    const indexes = owners.get(`instances/instance/${field}`) ?? [];
    for (const [at, { text }] of (fields.get(`instances/instance/${field}`) ?? []).entries()) {
      const index = indexes[at] ?? 0;
      instances.set(index, { ...instances.get(index), [field]: str(text) });
    }
  }
  return [...instances].sort(([a], [b]) => a - b).map(([, instance]) => instance);
}

/** Only newer versions have `created`. The time in `generated` has no time zone and is in the language of the user. */
function generatedAt({ created, generated }: Readonly<Record<string, string>>): Date | null {
  return date(created) ?? date(generated);
}
