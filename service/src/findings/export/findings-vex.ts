import { newId } from '../../shared/ids.ts';
import { type ExportContext, type ExportedFinding, jsonItems, type Pages } from './export.ts';
import { componentOf, cycloneDxHead, openVexHead, statementOf, vulnerabilityOf } from './vex.ts';

export async function* writeCycloneDx(pages: Pages, { started, assets }: ExportContext): AsyncGenerator<string> {
  yield `${unclosed(cycloneDxHead(newId(), started.toISOString()))},"vulnerabilities":[`;
  yield* jsonItems(pages, importableVulnerability);
  yield '],"components":[';
  yield* jsonItems(assets(), componentOf);
  yield ']}\n';
}

export async function* writeOpenVex(pages: Pages, { organization, started }: ExportContext): AsyncGenerator<string> {
  yield `${unclosed(openVexHead(newId(), organization, started.toISOString()))},"statements":[`;
  yield* jsonItems(pages, statementOf);
  yield ']}\n';
}

/** The affected component of a BOM says little about a location, so properties have what an import needs to recognize the finding. */
function importableVulnerability(finding: ExportedFinding) {
  const { properties, ...vulnerability } = vulnerabilityOf(finding);
  const { asset, weakness, rule, location, references, sources, tags, last_seen, justification, suppressed, occurrences } = finding;
  const { exploit_maturity, malicious, fix_state, fix_published_date } = finding;
  const more: [string, unknown][] = [
    ['weakness', weakness],
    ['rule', rule],
    ['asset_type', asset.type],
    ['asset_name', asset.name],
    ...Object.entries(location).filter(([name]) => !properties.some((property) => property.name === `rrs:${name}`)),
    ...sources.map(({ provider, tool }): [string, string] => ['source', tool || provider]),
    ...tags.map((tag): [string, string] => ['tag', tag]),
    ['exploit_maturity', exploit_maturity],
    ['malicious', malicious],
    ['fix_state', fix_state],
    ['fix_published_date', fix_published_date],
    ['last_seen', last_seen],
    ['justification', justification],
    ['suppressed', suppressed],
    ...occurrences.map((occurrence): [string, string] => ['occurrence', JSON.stringify(occurrence)]),
  ];
  return {
    ...vulnerability,
    ...(references.length === 0 ? {} : { advisories: references.map((url) => ({ url })) }),
    properties: [
      ...properties,
      ...more.flatMap(([name, value]) => (value === null || value === undefined ? [] : [{ name: `rrs:${name}`, value: String(value) }])),
    ],
  };
}

/** The JSON of an object without its closing brace, so that lists can be appended. */
const unclosed = (head: object): string => JSON.stringify(head).slice(0, -1);
