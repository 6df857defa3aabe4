import type { Obj } from '../../shared/read.ts';
import { child, childText, type XmlElement } from '../../xml/elements.ts';

/** Converts XML elements, including the old vulnerability extension, to the shape of the JSON form. */

const list = (element: XmlElement | undefined, outer: string, inner: string): readonly XmlElement[] =>
  (element ? child(element, outer) : undefined)?.children.filter(({ name }) => name === inner) ?? [];

const text = (element: XmlElement | undefined, name: string): string | undefined => (element ? childText(element, name) || undefined : undefined);

export function metadataOf(element: XmlElement): Obj {
  const subject = child(element, 'component');
  return { timestamp: text(element, 'timestamp'), tools: toolsOf(element), component: subject ? componentShape(subject) : undefined };
}

function toolsOf(element: XmlElement): unknown {
  const tools = child(element, 'tools');
  if (!tools) return undefined;
  const named = [...list(element, 'tools', 'tool'), ...list(tools, 'components', 'component'), ...list(tools, 'services', 'service')];
  return named.map((tool) => ({ name: text(tool, 'name'), version: text(tool, 'version') }));
}

export function componentShape(element: XmlElement): Obj {
  const evidence = child(element, 'evidence');
  return {
    type: element.attributes.type,
    'bom-ref': element.attributes['bom-ref'],
    group: text(element, 'group'),
    name: text(element, 'name'),
    version: text(element, 'version'),
    purl: text(element, 'purl'),
    evidence: { occurrences: list(evidence, 'occurrences', 'occurrence').map((occurrence) => ({ location: text(occurrence, 'location') })) },
    properties: propertiesOf(element),
    externalReferences: list(element, 'externalReferences', 'reference').map((reference) => ({ type: reference.attributes.type, url: text(reference, 'url') })),
    components: list(element, 'components', 'component').map(componentShape),
  };
}

function propertiesOf(element: XmlElement): Obj[] {
  return list(element, 'properties', 'property').map(({ attributes, text: value }) => ({ name: attributes.name, value }));
}

/** Yields the vulnerabilities (old extension) inside a component and its nested components. */
export function* nestedVulnerabilities(element: XmlElement, place: string): Generator<{ component: Obj; vulnerability: XmlElement; place: string }> {
  for (const [index, vulnerability] of list(element, 'vulnerabilities', 'vulnerability').entries())
    yield { component: componentShape(element), vulnerability, place: `${place}/vulnerabilities[1]/vulnerability[${index + 1}]` };
  for (const [index, nested] of list(element, 'components', 'component').entries())
    yield* nestedVulnerabilities(nested, `${place}/components[1]/component[${index + 1}]`);
}

export function vulnerabilityShape(element: XmlElement): Obj {
  const analysis = child(element, 'analysis');
  return {
    id: text(element, 'id'),
    source: sourceOf(element),
    references: list(element, 'references', 'reference').map((reference) => ({ id: text(reference, 'id'), source: sourceOf(reference) })),
    ratings: list(element, 'ratings', 'rating').map(ratingOf),
    cwes: list(element, 'cwes', 'cwe').map((cwe) => cwe.text),
    description: text(element, 'description'),
    detail: text(element, 'detail'),
    recommendation:
      text(element, 'recommendation') ??
      list(element, 'recommendations', 'recommendation')
        .map((recommendation) => recommendation.text)
        .join('\n'),
    workaround: text(element, 'workaround'),
    advisories: list(element, 'advisories', 'advisory').map((advisory) => ({ url: text(advisory, 'url') ?? (advisory.text || undefined) })),
    analysis: {
      state: text(analysis, 'state'),
      justification: text(analysis, 'justification'),
      response: list(analysis, 'responses', 'response').map((response) => response.text),
      detail: text(analysis, 'detail'),
    },
    properties: propertiesOf(element),
    tools: toolsOf(element),
    affects: affectsOf(element),
  };
}

/** The old extension names the component in an attribute. */
function affectsOf(element: XmlElement): Obj[] {
  const { ref } = element.attributes;
  if (ref) return [{ ref }];
  return list(element, 'affects', 'target').map((target) => ({
    ref: text(target, 'ref'),
    versions: list(target, 'versions', 'version').map((version) => ({ version: text(version, 'version'), status: text(version, 'status') })),
  }));
}

function sourceOf(element: XmlElement): Obj {
  const source = child(element, 'source');
  return { name: text(source, 'name') ?? source?.attributes.name, url: text(source, 'url') };
}

function ratingOf(rating: XmlElement): Obj {
  const score = child(rating, 'score');
  return {
    source: sourceOf(rating),
    score: text(score, 'base') ?? score?.text,
    severity: text(rating, 'severity'),
    method: text(rating, 'method'),
    vector: text(rating, 'vector'),
  };
}
