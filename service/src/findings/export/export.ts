import type { Location } from '@rrs/scan-reports';
import { assetFacts } from '../../assets/relations.ts';
import type { Database, TenantTx } from '../../db/database.ts';
import { showDetails, showListed } from '../fields/derive.ts';
import { namesFor } from '../fields/names.ts';
import { filterFindings, ownFindings } from '../list/filter.ts';
import { type ExportedOccurrence, exportedOccurrence, occurrencesOf } from '../list/occurrences.ts';
import { type FindingFilter, prepareFilter } from '../list/prepare-filter.ts';

type Listed = ReturnType<typeof showListed>;
/** Fields of a location that the API does not show. Some of them take part in the identity of the finding. */
type Internal = Omit<Location, keyof Listed['location']>;

/** A finding in exports: the fields of the list, the details, the texts, and all that is known about the location, so that an import recognizes the finding. */
export interface ExportedFinding extends Listed, ReturnType<typeof showDetails> {
  location: Listed['location'] & Internal;
  description: string | null;
  solution: string | null;
  references: string[];
  occurrence_count: number;
  occurrences: ExportedOccurrence[];
}

export type Pages = AsyncIterable<ExportedFinding[]>;

export interface ExportContext {
  organization: string;
  started: Date;
  /** Read after the findings, for formats that list both. */
  assets: () => AsyncIterable<ExportedAsset[]>;
}

const PAGE = 1_000;
/** A page with findings in many places is shorter. */
const PLACES_PER_PAGE = 10_000;

/** Each page has its own transaction: memory holds one page, and a slow client does not keep a transaction open. */
export async function* exportPages(db: Database, orgId: string, filter: FindingFilter): AsyncGenerator<ExportedFinding[]> {
  let after: string | null = null;
  for (;;) {
    const page: ExportedFinding[] = await db.withTenant({ orgId }, (tx) => readPage(tx, orgId, filter, after));
    if (page.length === 0) return;
    yield page;
    after = page.at(-1)?.id ?? null;
  }
}

/** The first rows whose places fit on a page, at least one. */
function fitting<Row extends { place_count: number }>(rows: readonly Row[]): Row[] {
  let [count, places] = [0, 0];
  for (const { place_count } of rows) {
    places += place_count;
    if (places > PLACES_PER_PAGE && count > 0) break;
    count++;
  }
  return rows.slice(0, count);
}

/** The source of system packages that are one finding. It can be known from another report, so that not all of their own records state it. */
function sourceOf(key: string | null, places: readonly ExportedOccurrence[]): Pick<Location, 'source_package'> {
  const [, source] = /^(?:deb|rpm|apk|alpm)\/(.+)$/.exec(key ?? '') ?? [];
  return source !== undefined && new Set(places.map(({ location }) => location.component)).size > 1 ? { source_package: source } : {};
}

async function readPage(tx: TenantTx, orgId: string, filter: FindingFilter, after: string | null): Promise<ExportedFinding[]> {
  const found = filterFindings(ownFindings(tx).selectAll(), orgId, await prepareFilter(tx, orgId, filter));
  const rows = fitting(await (after === null ? found : found.where('findings.id', '>', after)).orderBy('findings.id').limit(PAGE).execute());
  const ids = rows.map(({ id }) => id);
  const textIds = [...new Set(rows.flatMap(({ text_id }) => (text_id === null ? [] : [text_id.toString('hex')])))];
  const [names, occurrences, texts] = await Promise.all([
    namesFor(tx, orgId, rows),
    occurrencesOf(tx, orgId, ids),
    textIds.length === 0
      ? []
      : tx
          .selectFrom('finding_texts')
          .selectAll()
          .where('org_id', '=', orgId)
          .where(
            'id',
            'in',
            textIds.map((id) => Buffer.from(id, 'hex')),
          )
          .execute(),
  ]);
  const textOf = new Map(texts.map((text) => [text.id.toString('hex'), text]));
  return rows.map((row) => {
    const text = row.text_id === null ? undefined : textOf.get(row.text_id.toString('hex'));
    const listed = showListed(row, names);
    const known = (occurrences.get(row.id) ?? []).map(exportedOccurrence);
    const source = sourceOf(row.component_key, known);
    const places = known.map((one) => ({ ...one, location: { ...one.location, ...source } }));
    return {
      ...listed,
      ...showDetails(row, names),
      location: { ...listed.location, ...(row.location as Internal), ...source },
      description: text?.description ?? null,
      solution: text?.solution ?? null,
      references: text?.reference_urls ?? [],
      occurrence_count: places.length,
      occurrences: places,
    };
  });
}

export interface ExportedAsset {
  id: string;
  type: string;
  name: string;
}

/** The assets of the exported findings. Includes those of findings that changed since `started`, because they may have been exported before they changed. */
export async function* exportAssets(db: Database, orgId: string, filter: FindingFilter, started: Date): AsyncGenerator<ExportedAsset[]> {
  let after: string | null = null;
  for (;;) {
    const page: ExportedAsset[] = await db.withTenant({ orgId }, async (tx) => {
      const prepared = await prepareFilter(tx, orgId, filter);
      const found = tx
        .selectFrom(assetFacts.as('assets'))
        .select(['assets.id', 'assets.type', 'assets.name'])
        .where('assets.org_id', '=', orgId)
        .where(({ exists, or, selectFrom }) => {
          const own = selectFrom('tenant_findings as findings')
            .select('findings.id')
            .whereRef('findings.asset_id', '=', 'assets.id')
            .where('findings.org_id', '=', orgId);
          const matching = filterFindings(own, orgId, prepared);
          return or([exists(matching), exists(own.where('findings.updated_at', '>=', started))]);
        });
      return (after === null ? found : found.where('assets.id', '>', after)).orderBy('assets.id').limit(PAGE).execute();
    });
    if (page.length > 0) yield page;
    if (page.length < PAGE) return;
    after = page.at(-1)?.id ?? null;
  }
}

/** Writes the items of a JSON array, with commas between them. */
export async function* jsonItems<T>(pages: AsyncIterable<T[]>, itemOf: (item: T) => unknown): AsyncGenerator<string> {
  let comma = '';
  for await (const page of pages) {
    yield comma + page.map((item) => JSON.stringify(itemOf(item))).join(',');
    comma = ',';
  }
}
