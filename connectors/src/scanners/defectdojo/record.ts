import type { Asset, Cvss, Location, Observation } from '@rrs/scan-reports';
import { cwesOf, filePath, hostAsset, observation, required, severityOf, urlPlace, webAsset } from '@rrs/scan-reports/normalize.ts';
import { arr, count, date, num, type Obj, obj, str, strs } from '@rrs/scan-reports/read.ts';

/** One observation per endpoint of the finding, or one for the product if it has no endpoint. */
export function findingsOf(finding: Obj, place: string, endpoints: Obj): Observation[] {
  const test = obj(obj(finding.related_fields).test);
  const spots = strs(finding.endpoints).flatMap((id) => spotOf(id, obj(endpoints[id])) ?? []);
  const product = productAsset(obj(obj(test.engagement).product));
  const id = required(str(finding.id), 'id');
  return (spots.length > 0 ? spots : [{ id: '', asset: product, location: {} }]).map((spot, n) => ({
    ...findingOf(finding, place, test),
    external_id: n === 0 ? id : `${id}/${spot.id}`,
    asset: spot.asset,
    location: { ...codeOf(finding), ...spot.location },
  }));
}

/** Product names are unique. */
export function productAsset(product: unknown): Asset | null {
  const name = str(obj(product).name);
  return name === undefined ? null : { type: 'other', name };
}

function findingOf(finding: Obj, place: string, test: Obj): Observation {
  const title = required(str(finding.title), 'title');
  const ids = arr(finding.vulnerability_ids).flatMap((one) => strs(obj(one).vulnerability_id));
  return observation({
    place,
    tool: str(obj(test.test_type).name)?.toLowerCase() ?? 'defectdojo',
    rule: str(finding.vuln_id_from_tool) ?? ids[0] ?? title,
    title,
    description: [str(finding.description), str(finding.impact)].filter(Boolean).join('\n\n'),
    solution: str(finding.mitigation),
    severity: severityOf(str(finding.severity)),
    tool_severity: str(finding.severity),
    vulnerability_ids: ids,
    cwes: cwesOf(
      finding.cwe,
      arr(finding.cwes).map((one) => obj(one).cwe ?? one),
    ),
    cvss: [...cvssOf(finding.cvssv4, finding.cvssv4_score), ...cvssOf(finding.cvssv3, finding.cvssv3_score)],
    references: str(finding.references)?.match(/https?:\/\/[^\s<>()[\]"']+/g) ?? [],
    ...stateOf(finding),
    first_seen: date(finding.date) ?? date(finding.created),
    tags: strs(finding.tags),
  });
}

/** DefectDojo closes false positives like fixed findings, but they are still present. */
function stateOf(finding: Obj): { present: boolean; suppressed: boolean } {
  const isDismissed = finding.false_p === true || finding.out_of_scope === true;
  const present = isDismissed || finding.is_mitigated !== true;
  return { present, suppressed: present && (isDismissed || finding.risk_accepted === true || finding.active === false) };
}

function codeOf(finding: Obj): Location {
  return Object.fromEntries(
    Object.entries({
      component: str(finding.component_name),
      version: str(finding.component_version),
      fixed_version: str(finding.fix_version),
      path: filePath(str(finding.file_path)),
      line: count(finding.line),
    }).filter(([, value]) => value !== undefined),
  );
}

interface EndpointLocation {
  id: string;
  asset: Asset | null;
  location: Location;
}

/** A host with a port, or a page of a web application. */
function spotOf(id: string, endpoint: Obj): EndpointLocation | null {
  const host = str(endpoint.host);
  if (host === undefined) return null;
  const protocol = str(endpoint.protocol)?.toLowerCase();
  const port = count(endpoint.port);
  if (protocol !== 'http' && protocol !== 'https')
    return { id, asset: hostAsset({ given: host }), location: { ...(port ? { port } : {}), ...(protocol ? { protocol } : {}) } };
  const origin = `${protocol}://${host}${port ? `:${port}` : ''}`;
  const url = urlPlace(`${origin}/${str(endpoint.path)?.replace(/^\/+/, '') ?? ''}`);
  return { id, asset: webAsset(origin), location: url ? { url } : {} };
}

function cvssOf(vector: unknown, score: unknown): Cvss[] {
  const given = num(score);
  return strs(vector).map((one) => ({ vector: one, ...(given === undefined ? {} : { score: given }) }));
}
