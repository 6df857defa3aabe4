import type { About, Asset, Observation, Severity } from '../../contract.ts';
import { startAbout } from '../../shared/about.ts';
import { cwesOf, observation, RecordError, required, urlPlace, webAsset } from '../../shared/normalize.ts';
import { plain } from '../../shared/read.ts';

/** An alert of a site, independent of the form of the file. */
export interface Alert {
  place: string;
  site: string | undefined;
  generated: Date | null;
  text(name: string): string | undefined;
  instances: readonly Instance[];
  tags: readonly string[];
}

export interface Instance {
  uri?: string | undefined;
  method?: string | undefined;
  param?: string | undefined;
  attack?: string | undefined;
  evidence?: string | undefined;
}

const SEVERITIES: readonly Severity[] = ['info', 'low', 'medium', 'high'];
const FALSE_POSITIVE = '0';
const MAX_QUOTE = 200;
const MAX_SKIPPED = 10_000;

/** One observation per URL, method and parameter. Query strings are not part of the URL, so several instances may be one observation. */
export function alertsOf(alert: Alert): Observation[] {
  const { place, generated, text, instances, tags } = alert;
  const plugin = required(text('pluginid'), 'pluginid');
  const title = text('alert') ?? text('name') ?? `Plugin ${plugin}`;
  const asset = siteOf(alert);
  if (asset === null) throw new RecordError('the site has no name');
  const risk = text('riskcode');
  const places = new Map<string, Instance>();
  for (const instance of instances) {
    const key = [urlPlace(instance.uri), instance.method, instance.param].join(' ');
    places.set(key, places.get(key) ?? instance);
  }
  const common = {
    place,
    tool: 'zap',
    rule: text('alertRef') ?? plugin,
    title,
    solution: plain(text('solution')),
    severity: SEVERITIES[Number(risk ?? Number.NaN)] ?? 'unknown',
    tool_severity: text('riskdesc') ?? risk,
    cwes: cwesOf(text('cweid')),
    references: (plain(text('reference')) ?? '').split(/\s+/).filter((reference) => /^https?:/i.test(reference)),
    asset,
    suppressed: text('confidence') === FALSE_POSITIVE,
    last_seen: generated,
    tags: [...tags],
  };
  // In older versions, alerts of one plugin differ only by their titles.
  const fingerprint = text('alertRef') === undefined ? title : undefined;
  return (places.size === 0 ? [{}] : [...places.values()]).map((instance: Instance) =>
    observation({
      ...common,
      description: [plain(text('desc')), plain(text('otherinfo')), quoted('Attack', instance.attack), quoted('Evidence', instance.evidence)]
        .filter(Boolean)
        .join('\n\n'),
      location: { url: urlPlace(instance.uri) ?? urlPlace(asset.name), method: instance.method, parameter: instance.param, fingerprint },
    }),
  );
}

function siteOf({ site, instances }: Alert): Asset | null {
  return webAsset(site) ?? webAsset(instances[0]?.uri);
}

/** A report lists only so many URLs of an alert, and counts all. ZAP stops raising a systemic alert after some URLs. */
function mayHaveOthers({ text, instances }: Alert): boolean {
  return text('systemic') === 'true' || Number(text('count') ?? 0) > instances.length;
}

/**
 * Names the alerts of which the report may not list all URLs of a site. An alert gets a number when its plugin gets a second one, and mostly another title: what
 * a report without the number has shown may be what this one shows with it.
 */
export async function aboutAlerts(alerts: AsyncIterable<Alert>): Promise<About> {
  const { failed, about } = startAbout();
  const skipped = new Map<string, { rule: string; path: string }>();
  for await (const alert of alerts) {
    const [plugin, path] = [alert.text('pluginid'), siteOf(alert)?.name];
    const rule = alert.text('alertRef') ?? plugin;
    if (rule === undefined || path === undefined) continue;
    for (const skip of [mayHaveOthers(alert) ? rule : undefined, rule === plugin ? undefined : plugin]) {
      if (skip === undefined) continue;
      if (skipped.size < MAX_SKIPPED) skipped.set(`${skip} ${path}`, { rule: skip, path });
      else failed();
    }
  }
  return skipped.size === 0 ? about() : { ...about(), skipped: [...skipped.values()] };
}

/** Attacks and evidence quote requests and responses. Those with a word that may be a token, a password hash or a number of a person are dropped. */
function quoted(label: string, text: string | undefined): string | undefined {
  if (text === undefined || text.length > MAX_QUOTE) return undefined;
  const isRisky = text.split(/[^\w-]+/).some((word) => word.length >= 24 || (word.length >= 8 && /\d/.test(word)));
  return isRisky ? undefined : `${label}: ${text}`;
}
