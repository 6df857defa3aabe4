import type { Asset, Location, Observation, ReportInput, ReportItem } from '../../contract.ts';
import { jsonValues, placeOf } from '../../json/values.ts';
import { cwesOf, filePath, observation, RecordError, record, required, severityOf } from '../../shared/normalize.ts';
import { maturityOf, ratingOf } from '../../shared/ratings.ts';
import { arr, count, date, isObj, type Obj, obj, str, strs } from '../../shared/read.ts';

/** Reads pages of `GET /rest/orgs/{id}/issues` and `/rest/groups/{id}/issues`, or a single issue. */
export async function* readIssues(input: ReportInput): AsyncGenerator<ReportItem> {
  const single: Record<string, unknown> = {};
  for await (const found of jsonValues(input, ['data.*'])) {
    const place = placeOf(found);
    const key = found.path[1];
    if (typeof key === 'string') single[key] = found.value;
    else
      yield* record(place, () => {
        if (found.error || !isObj(found.value)) throw new RecordError(found.error ?? 'the record is not an object');
        return observationsOf(found.value, place);
      });
  }
  if (Object.keys(single).length > 0) yield* record('data', () => observationsOf(single, 'data'));
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** One observation per affected dependency or place in the code. */
function observationsOf(issue: Obj, place: string): Observation[] {
  const attributes = obj(issue.attributes);
  const problems = arr(attributes.problems).map(obj);
  const key = str(attributes.key);
  const title = str(attributes.title);
  const coordinates = arr(attributes.coordinates).map(obj);
  const representations = coordinates.flatMap((coordinate) => arr(coordinate.representations).map(obj));
  const isPackage = str(attributes.type) === 'package_vulnerability';
  // The key of a code issue identifies the location. Its problem, or otherwise its title, identifies the check.
  const named = [key, ...problems.map(({ id }) => str(id))].find((id) => id !== undefined && !UUID.test(id));
  const common = {
    place,
    tool: 'snyk',
    rule: required(named ?? title, 'key'),
    external_id: str(issue.id),
    title: title ?? key ?? 'Issue',
    description: str(attributes.description),
    solution: coordinates.flatMap((coordinate) => arr(coordinate.remedies).flatMap((remedy) => strs(obj(remedy).description))).join('\n'),
    severity: severityOf(str(attributes.effective_severity_level)),
    tool_severity: str(attributes.effective_severity_level),
    vulnerability_ids: isPackage ? problems.flatMap(({ id }) => strs(id)).filter((id) => !UUID.test(id) && !/^CWE-/i.test(id)) : [],
    cwes: cwesOf(arr(attributes.classes).flatMap((entry) => (/^CWE/i.test(str(obj(entry).id) ?? '') ? strs(obj(entry).id) : []))),
    cvss: arr(attributes.severities).flatMap((entry) => {
      const { vector, score, version } = obj(entry);
      return ratingOf(vector, score, str(version));
    }),
    references: problems.flatMap(({ url }) => strs(url)),
    asset: assetOf(obj(obj(obj(issue.relationships).scan_item).data), representations),
    present: str(attributes.status) !== 'resolved',
    suppressed: attributes.ignored === true,
    first_seen: date(attributes.created_at),
    tags: strs(attributes.type),
    exploit_maturity: arr(obj(attributes.exploit_details).maturity_levels)
      .map((level) => maturityOf(str(obj(level).level)))
      .find((maturity) => maturity !== undefined),
    known_exploited: strs(obj(attributes.exploit_details).sources).some((source) => /^cisa\b/i.test(source)),
  };
  return locationsOf(representations).map((location) => observation({ ...common, location }));
}

function assetOf(item: Obj, representations: readonly Obj[]): Asset | null {
  const resource = representations.map(({ cloud_resource }) => obj(obj(cloud_resource).resource)).find(({ native_id, id }) => str(native_id) ?? str(id));
  const native = str(resource?.native_id) ?? str(resource?.id);
  if (native) return { type: 'cloud_resource', name: native, identifiers: [{ kind: native.startsWith('arn:') ? 'arn' : 'cloud_id', value: native }] };
  const id = str(item.id);
  if (!id) return null;
  return { type: str(item.type) === 'environment' ? 'cloud_resource' : 'repository', name: id, identifiers: [{ kind: 'cloud_id', value: id }] };
}

type Loose = { [Key in keyof Location]?: Location[Key] | undefined };

function locationsOf(representations: readonly Obj[]): Loose[] {
  const cloud = obj(representations.map(({ cloud_resource }) => cloud_resource).find(isObj));
  const resource = representations.map(({ resourcePath }) => str(resourcePath)).find((path) => path !== undefined) ?? str(obj(cloud.resource).native_id);
  const dependencies = representations.flatMap(({ dependency }) => (isObj(dependency) ? [dependency] : []));
  const sources = representations.flatMap(({ sourceLocation }) => (isObj(sourceLocation) ? [sourceLocation] : []));
  const locations: Loose[] = [
    ...dependencies.map(({ package_name, package_version }) => ({ component: str(package_name), version: str(package_version), resource })),
    ...sources.map(({ file, region }) => ({
      path: filePath(str(file)),
      line: count(obj(obj(region).start).line),
      end_line: count(obj(obj(region).end).line),
      resource,
    })),
  ];
  return locations.length === 0 ? [{ resource }] : [...new Map(locations.map((location) => [JSON.stringify(location), location])).values()];
}
