import type { Cvss, Location, Observation, ReportInput, ReportItem } from '../../contract.ts';
import { hostAsset, idsIn, observation, record, required } from '../../shared/normalize.ts';
import { count, date, num, str } from '../../shared/read.ts';
import { child, childText, type XmlElement, xmlElements } from '../../xml/elements.ts';
import { isFalsePositive, severityOfThreat, softwareIn } from './result.ts';

export async function* readXml(input: ReportInput): AsyncGenerator<ReportItem> {
  for await (const { element, place } of xmlElements(input, ['**/results/result', 'get_results_response/result'])) {
    yield* record(place, () => resultOf(element, place));
  }
}

function resultOf(element: XmlElement, place: string): Observation {
  const text = (name: string, parent: XmlElement | undefined = element): string | undefined => (parent ? str(childText(parent, name)) : undefined);
  const nvt = child(element, 'nvt');
  const tags = tagsOf(text('tags', nvt));
  const oid = nvt?.attributes.oid;
  const name = text('name', nvt) ?? text('name');
  const rule = required(oid && oid !== '0' ? oid : name, 'the nvt oid');
  const score = num(text('severity'));
  const threat = text('threat');
  const falsePositive = isFalsePositive(threat, score);
  const word = falsePositive ? text('original_threat') : threat;
  const refs = (child(nvt ?? element, 'refs')?.children ?? []).map(({ attributes }) => attributes);
  const host = child(element, 'host');
  const description = text('description');
  return observation({
    place,
    tool: 'openvas',
    rule,
    title: name ?? rule,
    description: [tags.get('summary'), description, tags.get('insight'), tags.get('impact'), tags.get('affected')].filter(Boolean).join('\n\n'),
    solution: text('solution', nvt) ?? tags.get('solution'),
    severity: severityOfThreat(word, falsePositive ? num(text('original_severity')) : score),
    tool_severity: threat ?? text('severity'),
    vulnerability_ids: idsIn(rule, ...refs.flatMap(({ type, id }) => (type?.toLowerCase() === 'cve' && id ? [id] : [])), text('cve', nvt)),
    cvss: vectorsOf(nvt, tags),
    references: [...refs.flatMap(({ type, id }) => (type?.toLowerCase() === 'url' && id ? [id] : [])), ...linksIn(text('xref', nvt))],
    asset: hostAsset({ ip: required(str(host?.text), 'host'), ...hostName(text('hostname', host)) }),
    location: { ...portOf(text('port')), ...(text('type', nvt) === 'cve' || /^CVE-/i.test(rule) ? softwareIn(productIn(element) ?? description) : {}) },
    suppressed: falsePositive,
    last_seen: date(text('modification_time')) ?? date(text('creation_time')),
    tags: [text('family', nvt) ?? []].flat(),
  });
}

/** The product that the weakness was found in, from `detection/result/details/detail` with the name product. */
function productIn(element: XmlElement): string | undefined {
  const details = ['detection', 'result', 'details'].reduce<XmlElement | undefined>((at, name) => at && child(at, name), element);
  const product = details?.children.find((detail) => childText(detail, 'name') === 'product');
  return product && str(childText(product, 'value'));
}

function hostName(name: string | undefined): { fqdn?: string; hostname?: string } {
  if (name === undefined) return {};
  return name.includes('.') ? { fqdn: name } : { hostname: name };
}

/** Parses "443/tcp", or "https (443/tcp)" in old reports. "general/tcp" means no port. */
function portOf(text: string | undefined): Pick<{ [Key in keyof Location]: Location[Key] | undefined }, 'port' | 'protocol'> {
  const [, port, protocol] = /(\d+|general)\/(\w+)/i.exec(text ?? '') ?? [];
  return { port: count(port), protocol: count(port) === undefined ? undefined : protocol?.toLowerCase() };
}

/** Parses "cvss_base_vector=AV:N/…|summary=…|solution=…". */
function tagsOf(text: string | undefined): ReadonlyMap<string, string> {
  return new Map(
    (text ?? '').split(/\|(?=\w+=)/).flatMap((tag) => {
      const at = tag.indexOf('=');
      const value = tag.slice(at + 1).trim();
      return at === -1 || value === '' || value === 'NOTAG' ? [] : [[tag.slice(0, at).trim(), value] as const];
    }),
  );
}

/** Reads only vectors. Depending on the version, the scores next to them are 7.5 or 75. */
function vectorsOf(nvt: XmlElement | undefined, tags: ReadonlyMap<string, string>): Cvss[] {
  const severities = nvt ? (child(nvt, 'severities')?.children ?? []) : [];
  const vectors = [...severities.map((severity) => str(childText(severity, 'value'))), tags.get('cvss_base_vector')];
  return [...new Set(vectors.filter((vector) => vector?.includes('/') === true) as string[])].map((vector) => ({ vector }));
}

function linksIn(text: string | undefined): string[] {
  return text?.match(/https?:\/\/[^\s,]+/g) ?? [];
}
