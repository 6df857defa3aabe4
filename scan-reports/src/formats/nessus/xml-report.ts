import type { Asset, Observation, ReportEntry, ReportInput, Severity } from '../../contract.ts';
import { cwesOf, hostAsset, observation, record, required, severityOfScore, webAsset } from '../../shared/normalize.ts';
import { epssOf } from '../../shared/ratings.ts';
import { count, date, dayOf, num, str } from '../../shared/read.ts';
import { runEntry } from '../../shared/run.ts';
import { childText, childTexts, type XmlElement, xmlElements } from '../../xml/elements.ts';
import { componentOf, cvssOf, exploitOf, pageIn, severityOfRisk, solutionOf } from './item.ts';
import { isDead, PING, SCAN_INFORMATION, scanInformation } from './scan-information.ts';

interface Host {
  name: string;
  asset: Asset;
  started?: Date | null;
  ended: Date | null;
  credentialed?: boolean | undefined;
}

const HOST = 'NessusClientData_v2/Report/ReportHost';

/** By definition of the format, HostProperties come before the items of their host. Every host in the report was scanned. */
export async function* readXml(input: ReportInput): AsyncGenerator<ReportEntry> {
  let host: Host | null = null;
  let index = 0;
  let plugins: ReadonlySet<string> | null = null;
  const disabled: string[] = [];
  for await (const { element, pattern, parents, place } of xmlElements(input, [
    `${HOST}/HostProperties`,
    `${HOST}/ReportItem`,
    'NessusClientData_v2/Policy/Preferences/ServerPreferences/preference',
    'NessusClientData_v2/Policy/FamilySelection/FamilyItem',
    'NessusClientData_v2/Policy/IndividualPluginSelection/PluginItem',
  ])) {
    if (pattern >= 2) {
      if (pattern === 2) plugins = pluginsIn(element) ?? plugins;
      else disabled.push(...disabledBy(element));
      continue;
    }
    const parent = parents.at(-1);
    const name = parent?.attributes.name ?? '';
    if (pattern === 0) {
      host = hostOf(element, name);
      index = parent?.index ?? 0;
      const { asset, started, ended, credentialed } = host;
      const unfinished = started && !ended ? true : undefined;
      if (name !== '') yield* runEntry({ asset, started_at: started, finished_at: ended, credentialed, unfinished });
      continue;
    }
    const known: Host = host && index === parent?.index ? host : { name, asset: assetOf(new Map(), name), ended: null };
    const { pluginID = '' } = element.attributes;
    // A plugin that ran although the policy does not list it shows that the list is incomplete.
    if (plugins && !plugins.has(pluginID)) plugins = null;
    yield* record(place, () => itemOf(element, place, known));
    if (pluginID === PING && name !== '' && isDead(childText(element, 'plugin_output'))) yield* runEntry({ asset: known.asset, unfinished: true });
    if (pluginID === SCAN_INFORMATION && name !== '') yield* readInformation(childText(element, 'plugin_output'), known);
  }
  yield* runEntry(plugins ? { checks: [...plugins] } : { restrictions: disabled });
}

/** Both the host and the plugin state whether the login worked. If either denies it, it did not work. */
function* readInformation(output: string, { asset, credentialed }: Host): Generator<ReportEntry> {
  const { credentialed: stated, ...scanner } = scanInformation(output);
  // All hosts have the same scanner, or several with the same plugins.
  yield* runEntry(scanner);
  yield* runEntry({ asset, credentialed: credentialed === false ? false : stated });
}

/** The preference `plugin_set` lists the ids of all enabled plugins. */
function pluginsIn(preference: XmlElement): ReadonlySet<string> | null {
  const value = childText(preference, 'name') === 'plugin_set' ? childText(preference, 'value') : '';
  return /^\d+(?:;\d+)+;?$/.test(value) ? new Set(value.split(';').filter(Boolean)) : null;
}

/** A family or plugin of the policy that is not enabled, or not all of it. */
function disabledBy(item: XmlElement): string[] {
  const name = childText(item, 'FamilyName') || childText(item, 'PluginId');
  const status = childText(item, 'Status');
  return /^(?:disabled|mixed)$/i.test(status) ? [`${status.toLowerCase()}: ${name}`] : [];
}

function hostOf(element: XmlElement, name: string): Host {
  const tags = new Map(element.children.flatMap((tag) => (tag.attributes.name && tag.text ? [[tag.attributes.name, tag.text]] : [])));
  const timeOf = (tag: string): Date | null => date(tags.get(`${tag}_TIMESTAMP`)) ?? date(tags.get(tag));
  const login = tags.get('Credentialed_Scan')?.toLowerCase();
  return {
    name,
    asset: assetOf(tags, name),
    started: timeOf('HOST_START'),
    ended: timeOf('HOST_END'),
    credentialed: login === 'true' ? true : login === 'false' ? false : undefined,
  };
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
  const rated = severityOfItem(str(severity), text('risk_factor'), num(text('cvss3_base_score')));
  const common = observation({
    place,
    tool: 'nessus',
    rule: plugin,
    title: str(pluginName) ?? text('plugin_name') ?? `Plugin ${plugin}`,
    description: [text('synopsis'), text('description'), text('plugin_output')].filter(Boolean).join('\n\n'),
    solution: solutionOf(text('solution')),
    severity: rated.severity,
    tool_severity: rated.tool_severity,
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
    ...factsIn(element),
  });
  return text('compliance-result') ? complianceOf(common, plugin, text) : common;
}

/** One pass over the fields, because most plugins have none of these. */
function factsIn({ children }: XmlElement): Pick<Observation, 'epss' | 'exploit_maturity' | 'known_exploited'> & { fix_published_date: string | undefined } {
  let epss: string | undefined;
  let patched: string | undefined;
  let exploited = false;
  const exploits = { maturity: undefined as string | undefined, available: false, framework: false, malware: false };
  for (const { name, text } of children) {
    if (name === 'epss_score') epss = text;
    else if (name === 'patch_publication_date') patched = text;
    else if (name === 'cisa-known-exploited' || (name === 'xref' && text.startsWith('CISA-KNOWN-EXPLOITED'))) exploited = true;
    else if (!name.startsWith('exploit')) continue;
    else if (name === 'exploit_code_maturity') exploits.maturity = text;
    else if (name === 'exploit_available') exploits.available = text === 'true';
    else if (name === 'exploited_by_malware') exploits.malware = text === 'true';
    else if (name.startsWith('exploit_framework_')) exploits.framework ||= text === 'true';
  }
  const score = epssOf(epss);
  const maturity = exploitOf(exploits);
  return {
    ...(score ? { epss: score } : {}),
    ...(maturity ? { exploit_maturity: maturity } : {}),
    ...(exploited ? { known_exploited: true } : {}),
    fix_published_date: dayOf(date(patched)),
  };
}

/**
 * Depending on the scanner's `severity_basis`, the number follows CVSS version 2. A version 3 score is then more accurate. A number
 * that differs from the risk factor was set by a user and is kept.
 */
function severityOfItem(
  number: string | undefined,
  risk: string | undefined,
  score: number | undefined,
): { severity: Severity; tool_severity: string | undefined } {
  const own = severityOfRisk(number);
  const byRisk = severityOfRisk(risk);
  if (own === 'unknown' && risk !== undefined) return { severity: byRisk, tool_severity: risk };
  if (score !== undefined && (own === 'unknown' || risk === undefined || byRisk === own)) {
    const severity = severityOfScore(score);
    return { severity, tool_severity: severity === byRisk ? risk : String(score) };
  }
  return { severity: own, tool_severity: own === byRisk ? risk : number };
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
