import type { Asset, Location, Observation, ReportEntry, ReportFormat, ReportHead, ReportInput } from '../../contract.ts';
import { headOf } from '../../detect.ts';
import { jsonRecords } from '../../json/documents.ts';
import { notThisFormat } from '../../shared/input.ts';
import {
  cwesOf,
  filePath,
  hostAsset,
  idsIn,
  observation,
  parseUrl,
  RecordError,
  record,
  required,
  severityOf,
  urlPlace,
  webAsset,
} from '../../shared/normalize.ts';
import { epssOf, ratingOf } from '../../shared/ratings.ts';
import { arr, count, date, isObj, type Obj, obj, str, strs } from '../../shared/read.ts';
import { runEntry } from '../../shared/run.ts';

const EXPECTS = 'JSON Lines or a JSON array of objects with template-id and info';

/** Extracted values, requests and responses are not read, because they may contain the secrets that a template looks for. */
export const nuclei: ReportFormat = {
  id: 'nuclei',
  name: 'Nuclei',
  description: 'Output of `nuclei -jsonl` (`-json` in older versions) or `nuclei -json-export`',
  documentation: 'https://docs.projectdiscovery.io/opensource/nuclei/running#nuclei-output',
  expects: EXPECTS,
  assetType: 'web_application',
  detect: isNuclei,
  async *read(input) {
    const head = await headOf(input);
    // Without a match, nuclei writes an empty file.
    if (!isNuclei(head) && !/^(?:\[\s*\])?$/.test(head.text.trim())) throw notThisFormat(EXPECTS);
    yield* readResults(input, head);
  },
};

function isNuclei({ jsonKeys }: ReportHead): boolean {
  return (jsonKeys.includes('template-id') || jsonKeys.includes('templateID')) && jsonKeys.includes('info');
}

async function* readResults(input: ReportInput, { jsonShape }: ReportHead): AsyncGenerator<ReportEntry> {
  for await (const { place, value, error } of jsonRecords(input, jsonShape === 'array' ? '*' : '')) {
    yield* readFailure(obj(value));
    yield* record(place, () => {
      if (error || !isObj(value)) throw new RecordError(error ?? 'the record is not an object');
      return resultOf(value, place);
    });
  }
}

/** With -matcher-status, nuclei also writes requests that failed. What the template would have found is not known. */
function* readFailure(result: Obj): Generator<ReportEntry> {
  const { asset } = isUnmatched(result) && str(result.error) !== undefined ? targetOf(result) : { asset: null };
  if (asset) yield* runEntry({ asset, unfinished: true });
}

function isUnmatched(result: Obj): boolean {
  return result['matcher-status'] === false || result.matcher_status === false;
}

/** A template may have several named matchers. Nuclei displays such a match as template:matcher. */
function resultOf(result: Obj, place: string): Observation | null {
  // With -matcher-status, nuclei also writes templates that did not match.
  if (isUnmatched(result)) return null;
  const info = obj(result.info);
  const classification = obj(info.classification);
  const template = required(field(result, 'template-id', 'templateID'), 'template-id');
  const { asset, location } = targetOf(result);
  return observation({
    place,
    tool: 'nuclei',
    rule: [template, field(result, 'matcher-name', 'matcher_name')].filter(Boolean).join(':'),
    title: str(info.name) ?? template,
    description: [str(info.description), str(info.impact)].filter(Boolean).join('\n\n'),
    solution: str(info.remediation),
    severity: severityOf(str(info.severity)),
    tool_severity: str(info.severity),
    vulnerability_ids: idsIn(template, ...list(classification['cve-id'])),
    cwes: cwesOf(list(classification['cwe-id'])),
    cvss: ratingOf(classification['cvss-metrics'], classification['cvss-score']),
    references: strs(info.reference).flatMap((reference) => reference.split(/\s+/)),
    asset,
    location,
    last_seen: date(result.timestamp),
    tags: list(info.tags),
    epss: epssOf(classification['epss-score'], classification['epss-percentile']),
    // The authors of templates mark vulnerabilities in the catalogs of CISA and VulnCheck with these tags.
    known_exploited: list(info.tags).some((tag) => tag === 'kev' || tag === 'vkev'),
  });
}

function field(result: Obj, ...names: string[]): string | undefined {
  return names.map((name) => str(result[name])).find((value) => value !== undefined);
}

/** Reads a list, or comma-separated text as in older templates. */
function list(value: unknown): string[] {
  return strs(value).flatMap((text) => text.split(',').flatMap((part) => str(part) ?? []));
}

interface Target {
  asset: Asset | null;
  location: { [Key in keyof Location]?: Location[Key] | undefined };
}

const WEB_TYPES = new Set(['http', 'headless', 'websocket']);
const TCP_TYPES = new Set(['network', 'tcp', 'ssl']);

/** Some results have no target. The import then supplies the asset. */
function targetOf(result: Obj): Target {
  const type = str(result.type)?.toLowerCase();
  const matched = field(result, 'matched-at', 'matched_at', 'matched') ?? field(result, 'url', 'host')?.replace(/^\/(?=https?:)/, '');
  if (type === 'file') return { asset: null, location: { path: filePath(matched), line: count(arr(result['matched-line'])[0]) } };
  if (matched === undefined) return { asset: null, location: {} };
  if (/^(?:https?|wss?):\/\//i.test(matched) || (type !== undefined && WEB_TYPES.has(type))) return webTarget(matched, result);
  const target = parseUrl(matched) ?? parseUrl(str(result.host));
  return {
    asset: hostAsset({ given: target?.hostname.replaceAll(/[[\]]/g, '') ?? matched, ip: str(result.ip) }),
    location: { port: count(/:(\d{1,5})(?:\/|$)/.exec(matched)?.[1]) ?? count(result.port), protocol: TCP_TYPES.has(type ?? '') ? 'tcp' : undefined },
  };
}

function webTarget(matched: string, result: Obj): Target {
  const scheme = str(result.scheme) ?? 'http';
  const url = /^[a-z][a-z0-9+.-]*:\/\//i.test(matched) ? matched : `${scheme}://${matched}`;
  return {
    asset: webAsset(url) ?? webAsset(str(result.host)),
    location: { url: urlPlace(url), method: str(result.fuzzing_method), parameter: str(result.fuzzing_parameter) },
  };
}
