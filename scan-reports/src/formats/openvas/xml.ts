import { type Asset, type Cvss, type Location, type Observation, type ReportEntry, ReportError, type ReportInput } from '../../contract.ts';
import { name as bounded } from '../../names/clean-text.ts';
import { hostAsset, idsIn, observation, RecordError, record, required } from '../../shared/normalize.ts';
import { epssOf, ratingOf } from '../../shared/ratings.ts';
import { count, date, num, str } from '../../shared/read.ts';
import { runEntry } from '../../shared/run.ts';
import { child, childText, type XmlElement, xmlElements } from '../../xml/elements.ts';
import { startLeftOut } from './left-out.ts';
import { fixStateOfSolution, isFalsePositive, severityOfThreat, softwareIn } from './result.ts';

const RESULTS = ['**/results/result', 'get_results_response/result'];
const RESPONSES = ['get_reports_response/@', 'get_results_response/@'];

export async function* readXml(input: ReportInput): AsyncGenerator<ReportEntry> {
  const leftOut = startLeftOut();
  const assets = new Map<string, Asset>();
  const hosts = new Map<string, ReturnType<typeof hostFacts>>();
  const unnamed = new Set<string>();
  for await (const { element, pattern, place } of xmlElements(input, [
    ...RESULTS,
    ...RESPONSES,
    '**/report/host',
    '**/report/scan_start',
    '**/report/scan_end',
    '**/filters/term',
    '**/report/result_count',
    '**/report/results/@',
    '**/report/errors/error',
  ])) {
    if (pattern < RESULTS.length) {
      leftOut.addResult();
      const host = child(element, 'host');
      if (host && str(childText(host, 'hostname')) === undefined) unnamed.add(host.text.trim());
      yield* record(place, () => resultOf(element, place));
    } else if (pattern < RESULTS.length + RESPONSES.length) refuseError(element);
    else if (element.name === 'scan_start') yield* runEntry({ started_at: date(element.text) });
    else if (element.name === 'scan_end') yield* runEntry({ finished_at: date(element.text) });
    else if (element.name === 'term') leftOut.addFilter(element.text);
    else if (element.name === 'result_count') leftOut.addCounts(element);
    else if (element.name === 'results') leftOut.addPageOf(element.attributes);
    else if (element.name === 'error') {
      const [ip, isOfCheck] = [child(element, 'host')?.text ?? '', checkOf(element) !== undefined];
      const asset = isOfCheck ? undefined : assets.get(ip);
      if (asset) yield* runEntry({ asset, unfinished: true });
      const named = isOfCheck ? undefined : hosts.get(ip);
      if (named) hosts.set(ip, { ...named, unfinished: true });
    } else {
      const ip = str(childText(element, 'ip'));
      if (ip === undefined) continue;
      const name = str(detailsOf(element).find(([detail]) => detail === 'hostname')?.[1]);
      const facts = hostFacts(element);
      const asset = hostAsset({ ip, ...hostName(name) });
      assets.set(ip, asset);
      if (name !== undefined) hosts.set(ip, facts);
      yield* runEntry({ asset, ...facts });
    }
  }
  // Results of old versions know a host only by its address, and so do their findings.
  for (const [ip, facts] of hosts) if (unnamed.has(ip)) yield* runEntry({ asset: hostAsset({ ip }), ...facts });
  yield* runEntry(leftOut.facts());
}

function refuseError({ attributes: { status, status_text: reason } }: XmlElement): void {
  if (status === undefined || status.startsWith('2')) return;
  throw new ReportError(`The file is the response to a request that failed, with status ${bounded(status)}${reason ? `: ${bounded(reason)}` : ''}.`);
}

/** The check that an error of the scan is about. Without one, the host was not scanned to its end. */
export function checkOf(error: XmlElement): string | undefined {
  const oid = str(child(error, 'nvt')?.attributes.oid);
  return oid === '0' ? undefined : oid;
}

/** The report lists every host that was alive, also those without results. Details say which logins worked. */
function hostFacts(element: XmlElement) {
  const logins = detailsOf(element).flatMap(([name]) => /^Auth-.+-(Success|Failure)$/.exec(name)?.[1] ?? []);
  return {
    started_at: date(childText(element, 'start')),
    finished_at: date(childText(element, 'end')),
    unfinished: isCutShort(element) || isDead(element) ? true : undefined,
    credentialed: logins.length === 0 ? undefined : logins.includes('Success'),
  };
}

/** Whether the host has a time at which its scan began, or an empty one, but none at which it ended. */
function isCutShort(host: XmlElement): boolean {
  return !date(childText(host, 'end')) && (child(host, 'start') ?? child(host, 'end')) !== undefined;
}

function isDead(host: XmlElement): boolean {
  return detailsOf(host).some(([detail, value]) => detail === 'Host dead' && value.trim() !== '0');
}

function detailsOf(element: XmlElement): (readonly [name: string, value: string])[] {
  return element.children.filter(({ name }) => name === 'detail').map((detail) => [childText(detail, 'name'), childText(detail, 'value')] as const);
}

function resultOf(element: XmlElement, place: string): Observation {
  const text = (name: string, parent: XmlElement | undefined = element): string | undefined => (parent ? str(childText(parent, name)) : undefined);
  const nvt = child(element, 'nvt');
  const tags = tagsOf(text('tags', nvt));
  const oid = nvt?.attributes.oid;
  if (child(element, 'delta')?.text.trim() === 'gone') throw new RecordError('the file compares two reports, and only the first one has this result');
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
    cvss: ratingsOf(nvt, tags),
    references: [...refs.flatMap(({ type, id }) => (type?.toLowerCase() === 'url' && id ? [id] : [])), ...linksIn(text('xref', nvt))],
    asset: hostAsset({ ip: required(str(host?.text), 'host'), ...hostName(text('hostname', host)) }),
    location: { ...portOf(text('port')), ...(text('type', nvt) === 'cve' || /^CVE-/i.test(rule) ? softwareIn(productIn(element) ?? description) : {}) },
    suppressed: falsePositive,
    last_seen: date(text('modification_time')) ?? date(text('creation_time')),
    tags: [text('family', nvt) ?? []].flat(),
    epss: epssIn(nvt),
    fix_state: fixStateOfSolution((nvt && child(nvt, 'solution')?.attributes.type) || tags.get('solution_type')),
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
  const [, port, protocol] = /((?<!\d)\d+|general)\/(\w+)/i.exec(text ?? '') ?? [];
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

/** Reads the score only if there is no vector. Depending on the version, the scores next to vectors are 7.5 or 75. */
function ratingsOf(nvt: XmlElement | undefined, tags: ReadonlyMap<string, string>): Cvss[] {
  const severities = nvt ? (child(nvt, 'severities')?.children ?? []) : [];
  const vectors = [...severities.map((severity) => str(childText(severity, 'value'))), tags.get('cvss_base_vector')];
  const unique = [...new Set(vectors.filter((vector) => vector?.includes('/') === true) as string[])];
  return unique.length > 0 ? unique.map((vector) => ({ vector })) : ratingOf(undefined, nvt && childText(nvt, 'cvss_base'));
}

/** A check may cover several CVE ids. This is the rating of the one that is most likely to be exploited. */
function epssIn(nvt: XmlElement | undefined) {
  const epss = nvt && child(nvt, 'epss');
  const most = epss && (child(epss, 'max_epss') ?? child(epss, 'max_severity'));
  return most && epssOf(childText(most, 'score'), childText(most, 'percentile'));
}

function linksIn(text: string | undefined): string[] {
  return text?.match(/https?:\/\/[^\s,]+/g) ?? [];
}
