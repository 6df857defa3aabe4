import { RecordError, required } from '@rrs/scan-reports/normalize.ts';
import { arr, date, obj, str, strs } from '@rrs/scan-reports/read.ts';
import { type Static, Type } from 'typebox';
import { ConnectorError } from '../../core/connector-error.ts';
import { defineEnrichment, type Http, type Knowledge } from '../../core/contract.ts';
import { knowledgeOf, queryBatches, readRecords } from '../../core/knowledge.ts';

const Vulnerability = Type.Object({ id: Type.String(), modified: Type.Optional(Type.String()) });
const Refusal = Type.Object({ code: Type.Integer(), message: Type.String() });
const ResponseBody = Type.Union([Vulnerability, Refusal]);
type Vulnerability = Static<typeof Vulnerability>;

/** Ids of the databases that OSV aggregates. Other ids, which may be internal, are never sent to OSV. */
const ID =
  /^(?:CVE|GHSA|PYSEC|RUSTSEC|GO|GSD|OSV|MAL|HSEC|RSEC|PSF|BIT|DSA|DLA|DTSA|DEBIAN-CVE|USN|UBUNTU-CVE|ALPINE-CVE|RHSA|RHBA|RHEA|ALSA|ALBA|ALEA|RLSA|RXSA|SUSE-[A-Z]U|MGASA|CGA|ASB-A|PUB-A|LBSEC|CURL-CVE|JLSEC|OESA|EEF-CVE)-[A-Za-z0-9:._-]{1,80}$/;
const MAX_ALIASES_TRIED = 3;

export const osv = defineEnrichment({
  id: 'osv',
  name: 'OSV',
  version: 1,
  description: 'Aliases, CVSS vectors and weaknesses of the vulnerabilities that findings have, from the databases of open source ecosystems.',
  documentation: 'https://google.github.io/osv.dev/get-v1-vulns/',
  permissions: 'no credentials, because the database is public',
  config: Type.Object({
    api_url: Type.String({
      title: 'API URL',
      description: 'The part of the URL before /v1, of OSV or of a mirror in your network.',
      format: 'uri',
      default: 'https://api.osv.dev',
    }),
  }),
  credentials: Type.Object({}),
  baseUrl: ({ config }) => config.api_url,
  authorize: () => ({}),
  async check({ http }) {
    await http.getJson('v1/vulns/GHSA-jfh8-c2jp-5v3q', Vulnerability);
  },
  async *knowledge({ http, wanted, checkpoint, startedAt }) {
    const reached = obj(checkpoint);
    let asOf = str(reached.as_of) ?? null;
    for await (const ids of queryBatches(wanted, str(reached.after) ?? null, { accepts: (id) => ID.test(id), maxIds: 50 })) {
      const records: Vulnerability[] = [];
      for (const id of ids) records.push(...(await recordsOf(http, id)));
      for (const { modified } of records) if (date(modified) && modified && (asOf === null || modified > asOf)) asOf = modified;
      yield { ...readRecords(records, (index) => records[index]?.id ?? '', vulnerabilityOf), checkpoint: { after: ids.at(-1) ?? '', as_of: asOf } };
    }
    return { cursor: null, asOf: asOf ?? startedAt.toISOString() };
  },
});

/** OSV does not know every alias of a vulnerability, but its error names the aliases that it knows. */
async function recordsOf(http: Http, id: string): Promise<Vulnerability[]> {
  const response = await recordOf(http, id);
  if ('id' in response) return [response];
  const others = (/aliases were:(.*)$/is.exec(response.message)?.[1] ?? '').split(/[\s,]+/).filter((name) => ID.test(name));
  const records: Vulnerability[] = [];
  for (const other of others.slice(0, MAX_ALIASES_TRIED)) {
    const record = await recordOf(http, other);
    if ('id' in record) records.push(record);
  }
  return records;
}

async function recordOf(http: Http, id: string): Promise<Static<typeof ResponseBody>> {
  const { body } = await http.json(ResponseBody, { path: `v1/vulns/${encodeURIComponent(id)}`, accept: [404] });
  if ('id' in body && body.id.toLowerCase() !== id.toLowerCase()) throw new ConnectorError('invalid_answer', `OSV returned ${body.id} instead of ${id}.`);
  return body;
}

/** Null for withdrawn records. */
function vulnerabilityOf(record: unknown): Knowledge | null {
  const { id, modified, withdrawn, aliases, severity, affected, database_specific } = obj(record);
  if (date(modified) === null) throw new RecordError('modified is not a date');
  if (str(withdrawn) !== undefined) return null;
  const severities = [...arr(severity), ...arr(affected).flatMap((one) => arr(obj(one).severity))].map(obj);
  return knowledgeOf({
    ids: [required(str(id), 'id'), ...strs(aliases)],
    cwes: strs(obj(database_specific).cwe_ids),
    cvss: severities.filter(({ type }) => String(type).startsWith('CVSS_')).map(({ score }) => ({ vector: score })),
  });
}
