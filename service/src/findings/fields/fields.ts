import { exploitMaturities, fixStates } from '@rrs/scan-reports';
import { Type } from 'typebox';
import { Id, Nullable, OneOf, Timestamp } from '../../http/schemas.ts';
import { severityName, severityRank } from '../severity.ts';
import { activeStatuses } from '../status.ts';
import { begunDay } from './begun-day.ts';
import { field, fold, type ImportedColumn, known, knownOrReported, reported, reportedOrKnown, type Stated } from './field.ts';
import { shownLocation } from './location.ts';
import { ratedSeverity } from './rated-severity.ts';
import { AssetRef, Assurance, Cvss, Epss, Kev, Location, Severity, Source, Status } from './shapes.ts';
import { statusFields } from './status-fields.ts';

/** Whether the shared knowledge or a report says that the vulnerability is exploited. */
const KEV = 'coalesce(v.kev, false) or r.reported_kev';

/**
 * Every column of a finding that comes from reports or is shown to users is declared here, once. Staging, COPY, creating and merging, the list, the API
 * schema, the CSV export and the rows that evidence reads are derived from it. The order is the order in the API and in the CSV export.
 */
export const listedFields = {
  id: field({ schema: Id, columns: { id: null }, show: ({ id }) => id, csv: { id: (id) => id } }),
  title: field({
    schema: Type.String({
      description: 'Short description of the weakness',
      examples: ['Apache Log4j2 JNDI features do not protect against attacker controlled LDAP'],
    }),
    columns: { title: reported('title', ({ observation }) => observation.title, 'min(x.best_title)') },
    show: ({ title }) => title,
    csv: { title: (title) => title },
  }),
  status: field({ schema: Status, columns: { status: null }, show: ({ status }) => status, csv: { status: (status) => status } }),
  assurance: field({ schema: Nullable(Assurance), columns: { assurance: null }, show: ({ assurance }) => assurance }),
  severity: field({
    schema: Severity,
    columns: {
      severity: {
        stated: { value: ({ observation }) => severityRank(observation.severity), fold: ratedSeverity, said: 'f.source_severity' },
        create: 'r.severity',
        merge: 'coalesce(f.severity_override, r.severity)',
      },
      source_severity: { create: 'r.severity', merge: 'r.severity' },
      severity_source: reported('severity_source', ({ observation }) => observation.severity_source ?? null, fold.first('severity_source')),
    },
    show: ({ severity }) => severityName(severity),
    csv: { severity: (severity) => severity },
  }),
  severity_overridden: field({
    schema: Type.Boolean({ description: 'Whether a person set the severity', examples: [false] }),
    columns: { severity_override: null },
    show: ({ severity_override }) => severity_override !== null,
  }),
  severity_disputed: field({
    schema: Type.Boolean({ description: 'Whether the sources that still see the finding differ by two steps of severity or more', examples: [false] }),
    columns: { severity_disputed: null },
    show: ({ severity_disputed }) => severity_disputed,
  }),
  cves: field({
    schema: Type.Array(Type.String(), { description: 'CVE ids', examples: [['CVE-2021-44228']] }),
    columns: {
      vulnerability_ids: reported('vulnerability_ids', ({ observation }) => observation.vulnerability_ids, 'distinct_ids(concat_arrays(x.vulnerability_ids))'),
    },
    show: ({ vulnerability_ids }) => vulnerability_ids.filter((id) => id.startsWith('CVE-')),
  }),
  vulnerability_ids: field({
    schema: Type.Array(Type.String(), { description: 'CVE and other public ids', examples: [['CVE-2021-44228', 'GHSA-jfh8-c2jp-5v3q']] }),
    columns: {},
    show: ({ vulnerability_ids }) => vulnerability_ids,
    csv: { vulnerability_ids: (ids) => ids },
  }),
  cwes: field({
    schema: Type.Array(Type.Integer(), { description: 'CWE numbers', examples: [[502]] }),
    columns: { cwes: reported('cwes', ({ observation }) => observation.cwes, fold.union('cwes')) },
    show: ({ cwes }) => cwes,
    csv: { cwes: (cwes) => cwes },
  }),
  cvss: field({
    schema: Cvss,
    columns: {
      cvss_version: ratedOrKnown('cvss_version', ({ cvss }) => cvss?.version ?? null),
      cvss_vector: ratedOrKnown('cvss_vector', ({ cvss }) => cvss?.vector ?? null),
      cvss_score: ratedOrKnown('cvss_score', ({ cvss }) => cvss?.score ?? null),
    },
    show: ({ cvss_version, cvss_vector, cvss_score }) => (cvss_score === null ? null : { version: cvss_version, vector: cvss_vector, score: cvss_score }),
    csv: { cvss_score: (cvss) => cvss?.score, cvss_vector: (cvss) => cvss?.vector, cvss_version: (cvss) => cvss?.version },
  }),
  epss: field({
    schema: Epss,
    columns: {
      epss: knownOrReported('epss', ({ observation }) => observation.epss?.score ?? null, newest('epss')),
      epss_percentile: knownOrReported('epss_percentile', ({ observation }) => observation.epss?.percentile ?? null, newest('epss_percentile')),
      epss_date: knownOrReported('epss_date', ({ observation }) => observation.epss?.date ?? null, newest('epss_date')),
      weakness: null,
    },
    // The percentile and the date change every day, for nearly all findings. Only the score is copied to them when it changes.
    show: ({ epss, epss_percentile, epss_date, weakness }, { scores }) => {
      if (epss === null) return null;
      const current = scores.get(weakness);
      return current?.score === epss
        ? { score: epss, percentile: current.percentile, date: current.date }
        : { score: epss, percentile: epss_percentile, date: epss_date };
    },
    csv: { epss: (epss) => epss?.score },
  }),
  kev: field({
    schema: Kev,
    columns: {
      kev: { create: KEV, merge: KEV },
      kev_since: { create: `case when ${KEV} then now() end`, merge: `case when ${KEV} then coalesce(f.kev_since, now()) end` },
      reported_kev: reported('reported_kev', ({ observation }) => observation.known_exploited ?? false, fold.any('reported_kev')),
      kev_due_date: known('kev_due_date'),
    },
    show: ({ kev, kev_due_date }) => ({ listed: kev, due_date: kev_due_date }),
    csv: { kev: (kev) => kev.listed },
  }),
  exploit_maturity: field({
    schema: Nullable(OneOf(exploitMaturities, { description: 'How far exploits have developed, according to the sources' })),
    columns: {
      exploit_maturity: reported(
        'exploit_maturity',
        ({ observation }) => observation.exploit_maturity ?? null,
        `(array_agg(x.exploit_maturity order by array_position('{${[...exploitMaturities].reverse().join(',')}}', x.exploit_maturity)) filter (where x.exploit_maturity is not null))[1]`,
      ),
    },
    show: ({ exploit_maturity }) => exploit_maturity as (typeof exploitMaturities)[number] | null,
    csv: { exploit_maturity: (maturity) => maturity },
  }),
  malicious: field({
    schema: Type.Boolean({ description: 'Whether the component itself is malicious', examples: [false] }),
    columns: { malicious: reported('malicious', ({ observation }) => observation.malicious ?? false, fold.any('malicious')) },
    show: ({ malicious }) => malicious,
    csv: { malicious: (malicious) => malicious },
  }),
  fix_state: field({
    schema: Nullable(OneOf(fixStates, { description: 'Whether there is a fix, according to the sources' })),
    columns: {
      fix_state: reported(
        'fix_state',
        ({ observation: { fix_state, location } }) => fix_state ?? (location.fixed_version === undefined ? null : 'available'),
        `(array_agg(x.fix_state order by array_position('{${fixStates.join(',')}}', x.fix_state)) filter (where x.fix_state is not null))[1]`,
      ),
    },
    show: ({ fix_state }) => fix_state as (typeof fixStates)[number] | null,
    csv: { fix_state: (state) => state },
  }),
  fix_published_date: field({
    schema: Nullable(Type.String({ description: 'The earliest day on which a fix was published, according to the sources', examples: ['2021-12-10'] })),
    columns: {
      fix_published_date: reported('fix_published_date', ({ observation }) => begunDay(observation.fix_published_date), 'min(x.fix_published_date)'),
    },
    show: ({ fix_published_date }) => fix_published_date,
    csv: { fix_published_date: (day) => day },
  }),
  rule: field({
    schema: Nullable(Type.String({ description: "The tool's id of the check", examples: ['KSV014'] })),
    columns: { rule: reported('rule', ({ observation }) => (observation.tool === 'manual' ? null : observation.rule), fold.first('rule')) },
    show: ({ rule }) => rule,
    csv: { rule: (rule) => rule },
  }),
  risk_score: field({
    schema: Type.Number({ minimum: 0, maximum: 100, description: 'Risk from 0 to 100, from severity, exploitation, and the asset', examples: [88.5] }),
    columns: { risk_score: null },
    show: ({ risk_score }) => risk_score,
    csv: { risk_score: (score) => score },
  }),
  asset: field({
    schema: AssetRef,
    columns: { asset_id: null },
    show: ({ asset_id }, { assets }) => {
      const asset = assets.get(asset_id);
      if (!asset) throw new Error(`the asset ${asset_id} of a finding was not read`);
      return asset;
    },
    csv: { asset_id: ({ id }) => id, asset_type: ({ type }) => type, asset_name: ({ name }) => name },
  }),
  location: field({
    schema: Location,
    columns: {
      location: reported('location', ({ observation }) => ({ ...observation.location }), 'merged_location(x.location order by x.lead)'),
      component: reported('component', ({ observation }) => observation.location.component ?? null, fold.first('component')),
    },
    show: ({ location }) => shownLocation(location),
    csv: {
      component: ({ component }) => component,
      version: ({ version }) => version,
      fixed_version: ({ fixed_version }) => fixed_version,
      purl: ({ purl }) => purl,
      path: ({ path }) => path,
      line: ({ line }) => line,
      end_line: ({ end_line }) => end_line,
      port: ({ port }) => port,
      protocol: ({ protocol }) => protocol,
      url: ({ url }) => url,
      method: ({ method }) => method,
      parameter: ({ parameter }) => parameter,
      resource: ({ resource }) => resource,
    },
  }),
  place_count: field({
    schema: Type.Integer({ minimum: 0, description: 'In how many places of the asset sources still see the finding', examples: [1] }),
    columns: { place_count: null },
    show: ({ place_count }) => place_count,
  }),
  sources: field({
    schema: Type.Array(Source, { description: 'Sources that report the finding' }),
    columns: { source_ids: null },
    show: ({ source_ids }, { sources }) => source_ids.flatMap((id) => sources.get(id) ?? []),
    csv: { sources: (sources) => [...new Set(sources.map(({ provider }) => provider))] },
  }),
  first_seen: field({
    schema: { ...Timestamp, description: 'When a source first saw the finding' },
    columns: { first_seen: null },
    show: ({ first_seen }) => first_seen.toISOString(),
    csv: { first_seen: (time) => time },
  }),
  last_seen: field({
    schema: { ...Timestamp, description: 'When a scan last saw the finding. Refreshed at most once a day' },
    columns: { last_seen: null },
    show: ({ last_seen }) => last_seen.toISOString(),
    csv: { last_seen: (time) => time },
  }),
  due_at: field({
    schema: Nullable({ ...Timestamp, description: 'Deadline from the SLA policy' }),
    columns: { due_at: null },
    show: ({ due_at }) => deadlineOf(due_at)?.toISOString() ?? null,
    csv: { due_at: (time) => time },
  }),
  overdue: field({
    schema: Type.Boolean({ description: 'Whether an active finding that is not suppressed has passed its deadline', examples: [false] }),
    columns: {},
    show: ({ id, due_at, status }, { suppressed }) => {
      const due = deadlineOf(due_at);
      return due !== null && due.getTime() < Date.now() && !suppressed.has(id) && (activeStatuses as readonly string[]).includes(status);
    },
    csv: { overdue: (overdue) => overdue },
  }),
  suppressed: field({
    schema: Type.Boolean({ description: 'Whether all sources that still see the finding suppress it', examples: [false] }),
    columns: {},
    show: ({ id }, { suppressed }) => suppressed.has(id),
    csv: { suppressed: (suppressed) => suppressed },
  }),
  reopen_count: field({
    schema: Type.Integer({ minimum: 0, description: 'How often a scan reopened the finding' }),
    columns: { reopen_count: null },
    show: ({ reopen_count }) => reopen_count,
    csv: { reopen_count: (count) => count },
  }),
  tags: field({
    schema: Type.Array(Type.String(), { description: 'Tags from sources and people', examples: [['payments']] }),
    columns: {
      tags: {
        stated: { value: ({ observation }) => observation.tags, fold: fold.union('tags') },
        create: 'r.tags',
        // Tags of all sources add up until a person sets them.
        merge: `case
          when exists (select from finding_history h where h.org_id = f.org_id and h.finding_id = f.id and h.import_id is null and h.after ? 'tags') then f.tags
          else r.tags end`,
      },
    },
    show: ({ tags }) => tags,
    csv: { tags: (tags) => tags },
  }),
  ...statusFields,
  version: field({
    schema: Type.Integer({ minimum: 1, description: 'Version of the object, also its ETag' }),
    columns: { version: null },
    show: ({ version }) => version,
  }),
  created_at: field({
    schema: { ...Timestamp, description: 'When the finding was created' },
    columns: { created_at: null },
    show: ({ created_at }) => created_at.toISOString(),
    csv: { created_at: (time) => time },
  }),
  updated_at: field({
    schema: { ...Timestamp, description: 'When the finding last changed. New EPSS scores do not count' },
    columns: { updated_at: null },
    show: ({ updated_at }) => updated_at.toISOString(),
    csv: { updated_at: (time) => time },
  }),
};

/** Of several ratings, the newest CVSS version with the highest score. */
function ratedOrKnown(column: 'cvss_version' | 'cvss_vector' | 'cvss_score', value: Stated['value']): ImportedColumn {
  const best = 'order by x.cvss_score is null, x.cvss_version desc nulls last, x.cvss_score desc, x.cvss_vector';
  return reportedOrKnown(column, value, `(array_agg(x.${column} ${best}))[1]`);
}

function newest(column: 'epss' | 'epss_percentile' | 'epss_date'): string {
  return `(array_agg(x.${column} order by x.epss is null, x.epss_date desc nulls last, x.epss desc))[1]`;
}

/** pg returns the timestamp 'infinity', which means no deadline, as a number. */
function deadlineOf(due: Date | number): Date | null {
  return due instanceof Date ? due : null;
}
