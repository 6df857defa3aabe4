import { date, num, obj, str, strs } from '@rrs/scan-reports/read.ts';
import { type Static, Type } from 'typebox';
import { ConnectorError } from '../../core/connector-error.ts';
import { defineEnrichment, type Http, type Knowledge } from '../../core/contract.ts';
import { knowledgeOf, readRecords, requiredCve } from '../../core/knowledge.ts';

const Catalog = Type.Object({
  catalogVersion: Type.String({ minLength: 1, maxLength: 100 }),
  dateReleased: Type.String(),
  count: Type.Integer({ minimum: 0 }),
  vulnerabilities: Type.Array(Type.Unknown()),
});

/** If more than this share of the entries is missing, the file is assumed to be damaged. */
const MAX_LOSS = 0.05;

export const cisaKev = defineEnrichment({
  id: 'cisa_kev',
  name: 'CISA KEV',
  version: 1,
  description: 'The CISA catalog of known exploited vulnerabilities: CVEs that are used in attacks, and the dates by which US agencies must fix them.',
  documentation: 'https://www.cisa.gov/known-exploited-vulnerabilities-catalog',
  permissions: 'no credentials, because the catalog is public',
  config: Type.Object({
    feed_url: Type.String({
      title: 'Catalog URL',
      description:
        'URL of the JSON file of CISA, of its copy at https://raw.githubusercontent.com/cisagov/kev-data/develop/known_exploited_vulnerabilities.json, or of a mirror in your network.',
      format: 'uri',
      default: 'https://www.cisa.gov/sites/default/files/feeds/known_exploited_vulnerabilities.json',
    }),
  }),
  credentials: Type.Object({}),
  baseUrl: ({ config }) => new URL(config.feed_url).origin,
  authorize: () => ({}),
  async check({ http, config }) {
    await read(http, config.feed_url);
  },
  async *knowledge({ http, config, checkpoint, cursor }) {
    const catalog = await read(http, config.feed_url);
    const { catalogVersion: version, dateReleased: released, count } = catalog;
    assertNotOutdated(catalog, obj(cursor));
    const known = readRecords(
      catalog.vulnerabilities,
      (index) => `vulnerabilities[${index}]`,
      (entry) => entryOf(entry, version),
    );
    const edition = `${version} of ${released}`;
    if (checkpoint !== edition) yield { ...known, checkpoint: edition };
    // An unreadable entry may be about any CVE, so this run must not unlist any.
    const isComplete = known.rejected.length === 0;
    return { cursor: { version, released, count }, asOf: version, ...(isComplete ? { complete: 'kev' as const } : {}) };
  },
});

async function read(http: Http, url: string): Promise<Static<typeof Catalog>> {
  const catalog = await http.getJson(url, Catalog);
  const { count, vulnerabilities } = catalog;
  if (count !== vulnerabilities.length)
    throw new ConnectorError('incomplete', `The KEV catalog announces ${count} entries but contains ${vulnerabilities.length}.`);
  if (count === 0) throw new ConnectorError('incomplete', 'The KEV catalog is empty.');
  if (date(catalog.dateReleased) === null) throw new ConnectorError('invalid_answer', 'The KEV catalog has no release date.');
  return catalog;
}

/** An old or incomplete copy would unlist vulnerabilities that are still listed. */
function assertNotOutdated({ catalogVersion, dateReleased, count }: Static<typeof Catalog>, last: Readonly<Record<string, unknown>>): void {
  const [released, before] = [date(dateReleased), date(last.released)];
  if (released && before && released < before)
    throw new ConnectorError(
      'incomplete',
      `The KEV catalog has version ${catalogVersion}, which is older than version ${str(last.version)} of the previous run.`,
    );
  const had = num(last.count) ?? 0;
  if (count < had * (1 - MAX_LOSS)) throw new ConnectorError('incomplete', `The KEV catalog has ${count} entries. In the previous run it had ${had}.`);
}

function entryOf(entry: unknown, version: string): Knowledge {
  const { cveID, dueDate, cwes } = obj(entry);
  const due = date(dueDate)?.toISOString().slice(0, 10) ?? null;
  return { ...knowledgeOf({ ids: [requiredCve(cveID, 'cveID')], cwes: strs(cwes), cvss: [] }), kev: { listed: true, dueDate: due, version } };
}
