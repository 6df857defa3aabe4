import type { ReportEntry, ReportInput } from '../../contract.ts';
import type { JsonValue } from '../../json/extractor.ts';
import { jsonValues, placeOf } from '../../json/values.ts';
import { RecordError, record, webAsset } from '../../shared/normalize.ts';
import { arr, date, isObj, type Obj, obj, str } from '../../shared/read.ts';
import { runEntry } from '../../shared/run.ts';
import { type Alert, alertsOf } from './alert.ts';

const ALERTS = ['site.*.alerts.*', 'site.alerts.*'];

interface Header {
  /** Names by the path of the site. */
  sites: ReadonlyMap<string, string | undefined>;
  generated: Date | null;
  version: string | undefined;
}

/** Site names and dates may come after the alerts, so they are read in a first pass. Old versions write a single site instead of a list. */
async function readHeader(input: ReportInput): Promise<Header> {
  const sites = new Map<string, string | undefined>();
  let generated: Date | null = null;
  let version: string | undefined;
  for await (const { path, value } of jsonValues(input, ['@generated', 'created', '@version', 'site.*.@name', 'site.@name'])) {
    if (path.at(-1) === '@name') sites.set(path.slice(0, -1).join('.'), str(value));
    else if (path[0] === '@version') version = str(value);
    else if (path[0] === 'created' || generated === null) generated = date(value) ?? generated;
  }
  return { sites, generated, version };
}

export async function* readJson(input: ReportInput): AsyncGenerator<ReportEntry> {
  const header = await readHeader(input);
  yield* runEntry({ tool_version: header.version, finished_at: header.generated });
  for (const site of header.sites.values()) yield* runEntry({ asset: webAsset(site) });
  for await (const found of jsonValues(input, ALERTS)) {
    const place = placeOf(found);
    yield* record(place, () => {
      if (found.error) throw new RecordError(found.error);
      if (!isObj(found.value)) throw new RecordError('the record is not an object');
      return alertsOf(fromJson(found.value, found, header));
    });
  }
}

export async function* jsonAlerts(input: ReportInput): AsyncGenerator<Alert> {
  const header = await readHeader(input);
  for await (const found of jsonValues(input, ALERTS)) if (isObj(found.value)) yield fromJson(found.value, found, header);
}

function fromJson(alert: Obj, found: JsonValue, { sites, generated }: Header): Alert {
  return {
    place: placeOf(found),
    site: sites.get(found.path.slice(0, -2).join('.')),
    generated,
    text: (name) => str(alert[name]),
    instances: arr(alert.instances).map((instance) => {
      const { uri, method, param, attack, evidence } = obj(instance);
      return { uri: str(uri), method: str(method), param: str(param), attack: str(attack), evidence: str(evidence) };
    }),
    tags: arr(alert.tags).flatMap((tag) => str(obj(tag).tag) ?? str(tag) ?? []),
  };
}
