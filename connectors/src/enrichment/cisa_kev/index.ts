import { date, num, obj, str, strs } from '@rrs/scan-reports/read.ts';
import { type Static, Type } from 'typebox';
import { ConnectorError, defineEnrichment, type Http, type Knowledge } from '../../core/contract.ts';
import { knowledgeOf, readRecords, requiredCve } from '../../core/knowledge.ts';

const Catalogue = Type.Object({
  catalogVersion: Type.String({ minLength: 1, maxLength: 100 }),
  dateReleased: Type.String(),
  count: Type.Integer({ minimum: 0 }),
  vulnerabilities: Type.Array(Type.Unknown()),
});

/** A catalogue that lost more than this share of its entries has lost them by mistake. */
const LARGEST_LOSS = 0.05;

export const cisaKev = defineEnrichment({
  id: 'cisa_kev',
  name: 'CISA KEV',
  version: 1,
  description: 'The catalogue of known exploited vulnerabilities: which CVEs are used in attacks, and until when US agencies have to fix them.',
  documentation: 'https://www.cisa.gov/known-exploited-vulnerabilities-catalog',
  permissions: 'nothing: the catalogue is public',
  config: Type.Object({
    feed_url: Type.String({
      title: 'Address of the catalogue',
      description:
        'The JSON file of CISA, its copy at https://raw.githubusercontent.com/cisagov/kev-data/develop/known_exploited_vulnerabilities.json, or a mirror within your network',
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
    const catalogue = await read(http, config.feed_url);
    const { catalogVersion: version, dateReleased: released, count } = catalogue;
    assertNotLess(catalogue, obj(cursor));
    const known = readRecords(
      catalogue.vulnerabilities,
      (index) => `vulnerabilities[${index}]`,
      (entry) => entryOf(entry, version),
    );
    const edition = `${version} of ${released}`;
    if (checkpoint !== edition) yield { ...known, checkpoint: edition };
    // An entry that cannot be read is perhaps still listed: nothing may be taken off the list by its absence.
    const isComplete = known.rejected.length === 0;
    return { cursor: { version, released, count }, asOf: version, ...(isComplete ? { complete: 'kev' as const } : {}) };
  },
});

async function read(http: Http, url: string): Promise<Static<typeof Catalogue>> {
  const catalogue = await http.getJson(url, Catalogue);
  const { count, vulnerabilities } = catalogue;
  if (count !== vulnerabilities.length)
    throw new ConnectorError('incomplete', `The KEV catalogue says that it has ${count} entries and has ${vulnerabilities.length}.`);
  if (count === 0) throw new ConnectorError('incomplete', 'The KEV catalogue is empty.');
  if (date(catalogue.dateReleased) === null) throw new ConnectorError('invalid_answer', 'The KEV catalogue has no date of its release.');
  return catalogue;
}

/** An old copy, or one with entries missing, would take vulnerabilities off the list that are on it. */
function assertNotLess({ catalogVersion, dateReleased, count }: Static<typeof Catalogue>, last: Readonly<Record<string, unknown>>): void {
  const [released, before] = [date(dateReleased), date(last.released)];
  if (released && before && released < before)
    throw new ConnectorError('incomplete', `The KEV catalogue is version ${catalogVersion}, older than version ${str(last.version)} that was read before.`);
  const had = num(last.count) ?? 0;
  if (count < had * (1 - LARGEST_LOSS)) throw new ConnectorError('incomplete', `The KEV catalogue has ${count} entries; the one before had ${had}.`);
}

function entryOf(entry: unknown, version: string): Knowledge {
  const { cveID, dueDate, cwes } = obj(entry);
  const due = date(dueDate)?.toISOString().slice(0, 10) ?? null;
  return { ...knowledgeOf({ ids: [requiredCve(cveID, 'cveID')], cwes: strs(cwes), cvss: [] }), kev: { listed: true, dueDate: due, version } };
}
