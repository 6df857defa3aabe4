import type { TenantTx } from '../../db/database.ts';
import { folderPath } from '../identity/paths.ts';
import { readSourcesLike, type Source } from '../merge/sources.ts';
import type { ScanScope } from './manage-imports.ts';
import type { Found } from './reading/read-report.ts';

/** The format that people write themselves. */
export const GENERIC = 'generic';

/** Formats in which only the records name the tool. */
const NAMED_BY_RECORDS = [GENERIC, 'aws_security_hub'];

/** Runs of different parts of an asset are different sources, whether the scope or the report names the part. */
function uploadedBy({ format, about }: Found, { name = '', path = '' }: ScanScope): Source {
  const tool = [...new Set(about?.tools ?? [])].sort().join(' + ');
  return { kind: 'import', provider: format.id, tool, name, path: [folderPath(path), about?.part ?? ''].filter(Boolean).join(' ') };
}

/**
 * The source of an uploaded report, and what the report says about itself. A report without records, which would name its tool, need not do so if earlier ones
 * did not either, or if all of them name the same one.
 */
export async function sourceOfUpload(tx: TenantTx, orgId: string, found: Found, scope: ScanScope): Promise<Pick<Found, 'about'> & { source: Source }> {
  const source = uploadedBy(found, scope);
  const { about, format } = found;
  if (!NAMED_BY_RECORDS.includes(format.id) || about?.tools?.length !== 0) return { source, about };
  const tools = (await readSourcesLike(tx, orgId, source)).map(({ tool }) => tool);
  const [only = '', ...others] = tools;
  if (tools.includes('') || tools.length === 0) return { source, about: { ...about, tools: null } };
  return others.length === 0 ? { source: { ...source, tool: only }, about: { ...about, tools: [only] } } : { source, about };
}
