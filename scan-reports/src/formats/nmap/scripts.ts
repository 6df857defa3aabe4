import type { Asset, Cvss, Location, Observation, ReportItem, Severity } from '../../contract.ts';
import { type CpeProduct, productOfCpe } from '../../shared/cpe.ts';
import { idsIn, observation, RecordError, record, required, severityOf, severityOfScore } from '../../shared/normalize.ts';
import { ratingOf } from '../../shared/ratings.ts';
import { num, str } from '../../shared/read.ts';
import type { XmlElement } from '../../xml/elements.ts';

/** Values that all scripts of a host or port share. */
export interface Scripts {
  tool: string;
  asset: Asset | null;
  last_seen: Date | null;
  location: { [Key in keyof Location]?: Location[Key] | undefined };
  service: Readonly<Record<string, string>> | undefined;
}

/** Reads weaknesses from the structured output of scripts. Goes by its form, because any script may use these libraries. */
export function* scriptItems(holder: XmlElement, place: string, common: Scripts): Generator<ReportItem> {
  const scripts = holder.children.filter(({ name }) => name === 'script');
  for (const [index, script] of scripts.entries()) {
    const scriptPlace = `${place}/script[${index + 1}]`;
    const tables = tablesOf(script);
    for (const [position, table] of tables.entries()) {
      const tablePlace = `${scriptPlace}/table[${position + 1}]`;
      if (elementText(table, 'title') !== undefined && elementText(table, 'state') !== undefined) {
        yield* record(tablePlace, () => checkedWeakness(script, table, tablePlace, common));
      } else if (isVulners(script)) yield* knownWeaknesses(table, tablePlace, common);
    }
    if (tables.length === 0 && isVulners(script)) yield* fromText(script, scriptPlace, common);
  }
}

function isVulners(script: XmlElement): boolean {
  return script.attributes.id === 'vulners';
}

const tablesOf = (element: XmlElement): XmlElement[] => element.children.filter(({ name }) => name === 'table');

function elementText(table: XmlElement, key: string): string | undefined {
  return str(table.children.find(({ name, attributes }) => name === 'elem' && attributes.key === key)?.text);
}

/** Reads a text that is one element or a table of lines. */
function texts(table: XmlElement, key: string): string[] {
  const found = table.children.find(({ attributes }) => attributes.key === key);
  if (found === undefined) return [];
  return (found.name === 'table' ? found.children.map(({ text }) => text) : [found.text]).filter((text) => text !== '');
}

interface Vulners {
  id: string;
  score: number | undefined;
  type: string | undefined;
  exploit: boolean;
  severity?: string | undefined;
  exploited?: boolean;
  link?: string | undefined;
}

/** The script `vulners`: a table per product (its CPE, or its name and version), with a table per bulletin. */
function* knownWeaknesses(table: XmlElement, place: string, common: Scripts): Generator<ReportItem> {
  for (const [index, row] of tablesOf(table).entries()) {
    const rowPlace = `${place}/table[${index + 1}]`;
    yield* record(rowPlace, () =>
      knownWeakness(
        {
          id: required(elementText(row, 'id'), 'id'),
          score: num(elementText(row, 'cvss')),
          type: elementText(row, 'type'),
          exploit: elementText(row, 'is_exploit') === 'true',
          severity: elementText(row, 'severity'),
          exploited: elementText(row, 'kev') === 'true',
          link: elementText(row, 'href'),
        },
        productOf(table.attributes.key, common),
        rowPlace,
        common,
      ),
    );
  }
}

/** The first versions of vulners write only text: "⇥id⇥score⇥link[⇥*EXPLOIT*]" below "cpe:…:". */
function* fromText(script: XmlElement, place: string, common: Scripts): Generator<ReportItem> {
  let product: string | undefined;
  for (const line of (script.attributes.output ?? '').split('\n')) {
    const [id, score, link, mark] = line.trim().split('\t');
    if (link === undefined) product = line.trimEnd().endsWith(':') ? line.trim().slice(0, -1) : product;
    else if (id) {
      const type = /vulners\.com\/(\w+)\//.exec(link)?.[1];
      yield* record(place, () =>
        knownWeakness({ id, score: num(score), type, exploit: mark?.includes('EXPLOIT') ?? false, link }, productOf(product, common), place, common),
      );
    }
  }
}

function productOf(key: string | undefined, { service }: Scripts): CpeProduct | null {
  const named = productOfCpe(key);
  if (named) return named;
  const product = str(service?.product);
  return product ? { component: product, version: str(service?.version) } : null;
}

/** The list also contains exploits. A score of 0 means that an exploit has no score. */
function knownWeakness(found: Vulners, product: CpeProduct | null, place: string, { service: _, ...common }: Scripts): Observation {
  const software = [product?.component, product?.version].filter(Boolean).join(' ');
  return observation({
    ...common,
    place,
    rule: found.id,
    title: software ? `${found.id} in ${software}` : found.id,
    severity: found.severity ? severityOf(found.severity) : found.exploit && !found.score ? 'unknown' : severityOfScore(found.score),
    tool_severity: found.severity ?? (found.score === undefined ? undefined : String(found.score)),
    vulnerability_ids: idsIn(found.id),
    cvss: ratingOf(undefined, found.score),
    references: [found.link ?? `https://vulners.com/${found.type ?? 'cve'}/${found.id}`],
    location: { ...common.location, component: product?.component, version: product?.version },
    tags: ['vulners', ...(found.exploit ? ['exploit'] : []), ...(found.exploited ? ['known-exploited'] : [])],
    exploit_maturity: found.exploit ? 'proof_of_concept' : undefined,
    known_exploited: found.exploited,
  });
}

/** The vulns library: states are VULNERABLE, VULNERABLE (Exploitable), VULNERABLE (DoS), LIKELY VULNERABLE, NOT VULNERABLE. */
function checkedWeakness(script: XmlElement, table: XmlElement, place: string, { service: _, ...common }: Scripts): Observation | null {
  const state = elementText(table, 'state') ?? '';
  if (/^(?:NOT |UNKNOWN)/i.test(state)) return null;
  const rule = str(script.attributes.id);
  if (rule === undefined) throw new RecordError('the script has no id');
  const title = elementText(table, 'title') ?? rule;
  const scores = texts(table, 'scores');
  const risk = riskFactor(script.attributes.output ?? '', title);
  return observation({
    ...common,
    place,
    rule,
    title,
    description: [texts(table, 'description').join('\n'), texts(table, 'check_results').join('\n'), texts(table, 'extra_info').join('\n')]
      .filter(Boolean)
      .join('\n\n'),
    severity: risk ? severityOf(risk) : scoreSeverity(scores),
    tool_severity: risk ?? scores[0],
    vulnerability_ids: idsIn(...texts(table, 'ids'), table.attributes.key),
    cvss: scores.flatMap(vectorOf),
    references: texts(table, 'refs').filter((reference) => /^https?:/i.test(reference)),
    location: common.location,
    tags: [state.toLowerCase()],
  });
}

/** Only the text output has the risk factor, between the title and the next weakness. */
function riskFactor(output: string, title: string): string | undefined {
  const after = output.slice(Math.max(0, output.indexOf(title)));
  const [, own = after] = /State:([\s\S]*?)(?:State:|$)/.exec(after) ?? [];
  return /Risk factor:\s*(High|Medium|Low)/i.exec(own)?.[1];
}

function scoreSeverity(scores: readonly string[]): Severity {
  const best = scores.flatMap((score) => num(/\d+(?:\.\d+)?/.exec(score)?.[0]) ?? []);
  return best.length === 0 ? 'unknown' : severityOfScore(Math.max(...best));
}

/** Parses "10.0 (HIGH) (AV:N/AC:L/Au:N/C:C/I:C/A:C)". */
function vectorOf(score: string): Cvss[] {
  const [vector] = /(?:CVSS:[34]\.\d\/)?AV:[A-Z](?:\/[A-Za-z]{1,3}:[A-Z]+)+/.exec(score) ?? [];
  const number = num(/^\d+(?:\.\d+)?/.exec(score)?.[0]);
  return vector ? [{ vector, ...(number === undefined ? {} : { score: number }) }] : [];
}
