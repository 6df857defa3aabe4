import { type Check, isTest, isTypeScript, lineAt, type Source, type Violation } from './sources.ts';

/** Which folder of service/src owns each table and view. SQL outside of the folder must not touch it. */
const owners: Readonly<Record<string, readonly string[]>> = {
  audit: ['audit_events'],
  events: ['events', 'webhooks', 'webhook_deliveries'],
  organizations: ['organizations', 'members', 'sessions', 'sso_subjects', 'invitations', 'api_keys', 'saved_views', 'preferences'],
  assets: [
    'assets',
    'asset_keys',
    'asset_merges',
    'asset_track_merges',
    'asset_tracks',
    'asset_versions',
    'import_assets',
    'tenant_assets',
    'tenant_import_assets',
  ],
  pipelines: ['pipeline_trusts'],
  vulnerabilities: ['alias_claims', 'vulnerabilities', 'vulnerability_aliases'],
  findings: [
    'asset_findings',
    'decisions',
    'findings',
    'finding_history',
    'finding_texts',
    'identity_rules',
    'import_changes',
    'import_closures',
    'import_groups',
    'import_rows',
    'import_seen',
    'import_texts',
    'imports',
    'occurrences',
    'run_assets',
    'run_lists',
    'sightings',
    'source_coverage',
    'source_packages',
    'sources',
    'tenant_findings',
    'tenant_import_groups',
    'tenant_import_rows',
    'tenant_import_seen',
    'tenant_import_texts',
  ],
  integrations: ['connections', 'sync_runs', 'sync_run_batches'],
  'work-items': [
    'work_items',
    'work_item_findings',
    'work_item_states',
    'work_item_approvals',
    'finding_work_items',
    'tickets',
    'ticket_polls',
    'ticketing_connections',
  ],
  comments: ['comments'],
  evidence: [
    'artifact_captures',
    'artifact_removals',
    'artifacts',
    'evidence_keys',
    'evidence_packages',
    'key_successions',
    'log_checkpoints',
    'log_cosignatures',
    'log_endings',
    'log_epochs',
    'log_leaves',
    'log_nodes',
    'log_publications',
    'package_artifacts',
    'package_blobs',
    'package_files',
    'package_findings',
    'package_receipts',
    'share_links',
  ],
  http: ['idempotency_keys'],
  jobs: ['worker_heartbeats'],
  db: ['instance_secrets', 'schema_migrations'],
};

/** Views that a feature publishes for a feature that cannot import it. */
const published: Readonly<Record<string, string>> = {
  asset_findings: 'assets',
  finding_work_items: 'findings',
  package_files: 'findings',
  ticketing_connections: 'integrations',
};

/** Backup and restore copy every table. */
const EXEMPT = /^service\/src\/main\/backup\//;

const ownerOf = new Map(Object.entries(owners).flatMap(([owner, tables]) => tables.map((table) => [table, owner] as const)));
const anyTable = [...ownerOf.keys()].sort((a, b) => b.length - a.length).join('|');
const TOUCH = new RegExp(
  `(?:\\b(?:from|join|into|update|delete from|lateral)\\s+(?:rrs\\.)?|^\`\\s*|,\\s*|(?<![A-Za-z])(?:[a-z]+Join|selectFrom|insertInto|updateTable|deleteFrom)\\(\\s*['"\`])(${anyTable})(?=\\s+(?:as\\s+)?\\w|['"\`\\s])\\b`,
  'g',
);
const TEXTS = /`(?:\\.|[^`\\])*`|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"/g;
/** Distinguishes SQL from prose, which may also say "from" or "update". */
const SQL = /\b(?:select|insert into|delete from|where|join)\b|\bupdate \w+ (?:\w+ )?set\b/;
const TABLE_ARGUMENT = /(?<![A-Za-z])(?:[a-z]+Join|selectFrom|insertInto|updateTable|deleteFrom)\(\s*$/;

/** A feature reads and writes only its own tables. It asks other features through functions, relations or published views. */
export const tableOwners: Check = (sources) => sources.filter(inService).flatMap(foreignTables);

const inService = (source: Source): boolean => source.path.startsWith('service/src/') && isTypeScript(source) && !isTest(source) && !EXEMPT.test(source.path);

function foreignTables({ path, text }: Source): Violation[] {
  const folder = path.split('/')[2] ?? '';
  return sqlIn(text).flatMap(({ sql, index }) =>
    [...sql.matchAll(TOUCH)].flatMap((match) => {
      const table = match[1] ?? '';
      const owner = ownerOf.get(table);
      if (owner === folder || published[table] === folder) return [];
      return [{ path, line: lineAt(text, index + match.index), message: `${folder} touches the table ${table}, which belongs to ${owner}` }];
    }),
  );
}

/** Template strings and the table names of query builders; comments left out. */
function sqlIn(text: string): { sql: string; index: number }[] {
  const code = blankComments(text.replaceAll(/^[ \t]*\/\/.*$/gm, blank));
  return [...code.matchAll(TEXTS)].flatMap(({ 0: quoted, index }) => {
    const before = code.slice(Math.max(0, index - 40), index);
    if (TABLE_ARGUMENT.test(before)) return [{ sql: `selectFrom('${quoted.slice(1, -1)}'`, index }];
    return SQL.test(quoted) ? [{ sql: quoted, index }] : [];
  });
}

const blank = (text: string): string => text.replaceAll(/[^\n]/g, ' ');

function blankComments(text: string): string {
  const [first = '', ...comments] = text.split('/*');
  return comments.reduce((code, comment) => {
    const end = comment.indexOf('*/');
    return end === -1 ? `${code}  ${comment}` : `${code}  ${blank(comment.slice(0, end + 2))}${comment.slice(end + 2)}`;
  }, first);
}

/** `emit` and `recordAudit` are the only writers of their tables. */
const writers: Readonly<Record<string, string>> = { events: 'service/src/events/emit.ts', audit_events: 'service/src/audit/record.ts' };

export const onlyWriters: Check = (sources) =>
  sources.filter(inService).flatMap(({ path, text }) =>
    Object.entries(writers).flatMap(([table, writer]) =>
      path === writer
        ? []
        : [...text.matchAll(new RegExp(`insert into ${table}\\b|insertInto\\('${table}'\\)`, 'g'))].map(({ index }) => ({
            path,
            line: lineAt(text, index),
            message: `only ${writer} writes the table ${table}`,
          })),
    ),
  );

/** A new table or view needs an owner. */
export const everyTableHasAnOwner: Check = (sources) =>
  sources
    .filter(({ path }) => path.startsWith('service/migrations/'))
    .flatMap(({ path, text }) =>
      [...text.matchAll(/^create (?:unlogged )?(?:table|view) (?:if not exists )?(\w+)/gm)].flatMap(({ index, 1: table = '' }) =>
        ownerOf.has(table) ? [] : [{ path, line: lineAt(text, index), message: `${table} has no owner in checks/table-owners.ts` }],
      ),
    );
