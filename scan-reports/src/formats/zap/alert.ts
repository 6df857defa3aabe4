import type { Observation, Severity } from '../../contract.ts';
import { cwesOf, observation, RecordError, required, urlPlace, webAsset } from '../../shared/normalize.ts';
import { plain, str } from '../../shared/read.ts';

/** An alert of a site, independent of the form of the file. */
export interface Alert {
  place: string;
  site: string | undefined;
  generated: Date | null;
  text(name: string): string | undefined;
  instances: readonly { uri: string | undefined; method: string | undefined; param: string | undefined }[];
  tags: readonly string[];
}

const SEVERITIES: readonly Severity[] = ['info', 'low', 'medium', 'high'];
const FALSE_POSITIVE = '0';
const MAX_LISTED = 100;

/**
 * One finding per alert and site. Instances change with each crawl, so they are part of the description and not of the location.
 * Evidence is not read, because it quotes responses that may contain secrets.
 */
export function alertOf({ place, site, generated, text, instances, tags }: Alert): Observation {
  const plugin = required(text('pluginid'), 'pluginid');
  const title = text('alert') ?? text('name') ?? `Plugin ${plugin}`;
  const asset = webAsset(site) ?? webAsset(instances[0]?.uri);
  if (asset === null) throw new RecordError('the site has no name');
  const risk = text('riskcode');
  return observation({
    place,
    tool: 'zap',
    rule: text('alertRef') ?? plugin,
    title,
    description: [plain(text('desc')), plain(text('otherinfo')), instancesText(instances)].filter(Boolean).join('\n\n'),
    solution: plain(text('solution')),
    severity: SEVERITIES[Number(risk ?? Number.NaN)] ?? 'unknown',
    tool_severity: text('riskdesc') ?? risk,
    cwes: cwesOf(text('cweid')),
    references: (plain(text('reference')) ?? '').split(/\s+/).filter((reference) => /^https?:/i.test(reference)),
    asset,
    // In older versions, alerts of one plugin differ only by their titles.
    location: { url: urlPlace(asset.name), fingerprint: text('alertRef') === undefined ? title : undefined },
    suppressed: text('confidence') === FALSE_POSITIVE,
    last_seen: generated,
    tags: [...tags],
  });
}

function instancesText(instances: Alert['instances']): string | undefined {
  const lines = instances.flatMap(({ uri, method, param }) => {
    const url = urlPlace(uri);
    return url ? [[method, url, param ? `(${str(param)})` : undefined].filter(Boolean).join(' ')] : [];
  });
  const unique = [...new Set(lines)];
  const more = unique.length > MAX_LISTED ? [`… and ${unique.length - MAX_LISTED} more`] : [];
  return unique.length === 0 ? undefined : ['Found at:', ...unique.slice(0, MAX_LISTED), ...more].join('\n');
}
