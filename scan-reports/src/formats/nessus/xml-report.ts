import type { Asset, Observation, ReportInput, ReportItem, Severity } from '../../contract.ts';
import { cwesOf, hostAsset, observation, record, required, severityOfScore, webAsset } from '../../shared/normalize.ts';
import { count, date, num, str } from '../../shared/read.ts';
import { childText, childTexts, type XmlElement, xmlElements } from '../../xml/elements.ts';
import { componentOf, cvssOf, pageIn, severityOfRisk, solutionOf } from './item.ts';

interface Host {
  name: string;
  asset: Asset;
  ended: Date | null;
}

/** By definition of the format, HostProperties come before the items of their host. */
export async function* readXml(input: ReportInput): AsyncGenerator<ReportItem> {
  let host: Host | null = null;
  let index = 0;
  for await (const { element, pattern, parents, place } of xmlElements(input, [
    'NessusClientData_v2/Report/ReportHost/HostProperties',
    'NessusClientData_v2/Report/ReportHost/ReportItem',
  ])) {
    const parent = parents.at(-1);
    const name = parent?.attributes.name ?? '';
    if (pattern === 0) {
      host = hostOf(element, name);
      index = parent?.index ?? 0;
      continue;
    }
    const known: Host = host && index === parent?.index ? host : { name, asset: assetOf(new Map(), name), ended: null };
    yield* record(place, () => itemOf(element, place, known));
  }
}

function hostOf(element: XmlElement, name: string): Host {
  const tags = new Map(element.children.flatMap((tag) => (tag.attributes.name && tag.text ? [[tag.attributes.name, tag.text]] : [])));
  return { name, asset: assetOf(tags, name), ended: date(tags.get('HOST_END_TIMESTAMP')) ?? date(tags.get('HOST_END')) };
}

/** In Web App Scanning, hosts are URLs of web applications. */
function assetOf(tags: ReadonlyMap<string, string>, name: string): Asset {
  const url = [name, tags.get('host-fqdn')].find((given) => /^https?:\/\//i.test(given ?? ''));
  return (
    webAsset(url) ??
    hostAsset({
      fqdn: tags.get('host-fqdn') ?? tags.get('host-rdns'),
      hostname: tags.get('hostname'),
      netbios: tags.get('netbios-name')?.split('\\').at(-1),
      ip: tags.get('host-ip'),
      mac: tags.get('mac-address')?.split(/\s+/)[0],
      given: name,
    })
  );
}

function itemOf(element: XmlElement, place: string, { asset, ended }: Host): Observation {
  const { pluginID, pluginName, severity, port, protocol, pluginFamily } = element.attributes;
  const plugin = required(str(pluginID), 'pluginID');
  const text = (name: string): string | undefined => str(childText(element, name));
  const isWeb = asset.type === 'web_application';
  const common = observation({
    place,
    tool: 'nessus',
    rule: plugin,
    title: str(pluginName) ?? text('plugin_name') ?? `Plugin ${plugin}`,
    description: [text('synopsis'), text('description'), text('plugin_output')].filter(Boolean).join('\n\n'),
    solution: solutionOf(text('solution')),
    severity: severityOfItem(str(severity), text('risk_factor'), num(text('cvss3_base_score'))),
    tool_severity: text('risk_factor') ?? str(severity),
    vulnerability_ids: childTexts(element, 'cve'),
    cwes: cwesOf(
      childTexts(element, 'cwe'),
      childTexts(element, 'xref').filter((reference) => /^CWE\b/i.test(reference)),
    ),
    cvss: [
      ...cvssOf(text('cvss4_vector'), text('cvss4_base_score'), 'CVSS:4.0/'),
      ...cvssOf(text('cvss3_vector'), text('cvss3_base_score'), 'CVSS:3.0/'),
      ...cvssOf(text('cvss_vector'), text('cvss_base_score'), ''),
    ],
    references: childTexts(element, 'see_also').flatMap((lines) => lines.split(/\s+/)),
    asset,
    location: isWeb
      ? { url: pageIn(text('plugin_output'), asset) }
      : { port: count(port), protocol: str(protocol)?.toLowerCase(), ...componentOf(text('cpe')) },
    last_seen: ended,
    tags: str(pluginFamily) ? [str(pluginFamily) as string] : [],
  });
  return text('compliance-result') ? complianceOf(common, plugin, text) : common;
}

/**
 * Depending on the scanner's `severity_basis`, the number follows CVSS version 2. A version 3 score is then more accurate. A number
 * that differs from the risk factor was set by a user and is kept.
 */
function severityOfItem(number: string | undefined, risk: string | undefined, score: number | undefined): Severity {
  const own = severityOfRisk(number);
  if (own === 'unknown') return risk === undefined ? severityOfScore(score) : severityOfRisk(risk);
  return score !== undefined && (risk === undefined || severityOfRisk(risk) === own) ? severityOfScore(score) : own;
}

/** All checks of an audit file share one plugin id, so the check is part of the rule. */
function complianceOf(common: Observation, plugin: string, text: (name: string) => string | undefined): Observation {
  const check = text('compliance-check-name');
  const values = [
    ['Policy value', text('compliance-policy-value')],
    ['Actual value', text('compliance-actual-value')],
  ].flatMap(([label, value]) => (value ? [`${label}: ${value}`] : []));
  const id = text('compliance-check-id') ?? check;
  return observation({
    ...common,
    rule: id ? `${plugin}/${id}` : plugin,
    title: check ?? common.title,
    description: [text('compliance-info') ?? common.description, ...values].filter(Boolean).join('\n\n'),
    solution: text('compliance-solution') ?? common.solution,
    tool_severity: text('compliance-result'),
    references: [...common.references, ...(text('compliance-see-also') ?? '').split(/\s+/).filter(Boolean)],
    present: text('compliance-result')?.toUpperCase() !== 'PASSED',
    tags: [...common.tags, 'compliance'],
  });
}
