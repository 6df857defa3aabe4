import type { Database } from '../../db/database.ts';
import type { FindingFilter } from '../list/prepare-filter.ts';
import { type ExportedFinding, exportAssets, exportPages } from './export.ts';
import { type ExportFormat, exportFormats } from './formats.ts';

/** The file to write. All of it can be sent to a child process. */
export interface ExportTask {
  orgId: string;
  /** The name of the organization. */
  organization: string;
  format: keyof typeof exportFormats;
  filter: FindingFilter;
  started: Date;
}

/** Yields the file in parts, and nothing at all if no finding matches and a document in this format cannot be empty. */
export async function* writeExport(db: Database, { orgId, organization, format: name, filter, started }: ExportTask): AsyncGenerator<string> {
  const format: ExportFormat = exportFormats[name];
  const pages = exportPages(db, orgId, filter);
  const first = await pages.next();
  if (first.done && !format.mayBeEmpty) return;
  yield* format.write(startingWith(first, pages), { organization, started, assets: () => exportAssets(db, orgId, filter, started) });
}

async function* startingWith(first: IteratorResult<ExportedFinding[]>, rest: AsyncGenerator<ExportedFinding[]>): AsyncGenerator<ExportedFinding[]> {
  if (first.done) return;
  yield first.value;
  yield* rest;
}
