import { type Static, Type } from 'typebox';

/** The layout of a backup folder, and the manifest that lists every file with its hash. */
export const FORMAT_VERSION = 1;
export const MANIFEST = 'manifest.json';
export const JOBS = 'jobs.ndjson.gz';

const Count = Type.Integer({ minimum: 0 });
const BackupFile = Type.Object({
  path: Type.String({
    pattern:
      '^(tables/[a-z_][a-z0-9_]*\\.copy\\.gz|jobs\\.ndjson\\.gz|blobs/[0-9a-f]{2}/[0-9a-f]{64}|keys/[a-z-]+\\.pem|keys/credentials-[0-9]{13}-[0-9a-f]{8}\\.key)$',
  }),
  size: Count,
  sha256: Type.String({ pattern: '^[0-9a-f]{64}$' }),
});
export const Manifest = Type.Object({
  formatVersion: Type.Literal(FORMAT_VERSION),
  programVersion: Type.String(),
  schemaVersion: Count,
  createdAt: Type.String(),
  migrations: Type.Array(Type.Object({ version: Count, name: Type.String(), checksum: Type.String() }), { minItems: 1 }),
  tables: Type.Array(Type.Object({ table: Type.String(), columns: Type.Array(Type.String()), rows: Count })),
  jobs: Count,
  blobs: Count,
  files: Type.Array(BackupFile),
});
export type Manifest = Static<typeof Manifest>;
export type BackupFile = Static<typeof BackupFile>;

export interface BackupSummary {
  createdAt: string;
  programVersion: string;
  schemaVersion: number;
  tables: number;
  rows: number;
  jobs: number;
  blobs: number;
  keys: number;
  bytes: number;
}

export function summarize({ createdAt, programVersion, schemaVersion, tables, jobs, blobs, files }: Manifest): BackupSummary {
  const rows = tables.reduce((sum, table) => sum + table.rows, 0);
  const bytes = files.reduce((sum, file) => sum + file.size, 0);
  return { createdAt, programVersion, schemaVersion, tables: tables.length, rows, jobs, blobs, keys: files.filter(isKeyFile).length, bytes };
}

export function isKeyFile({ path }: BackupFile): boolean {
  return path.startsWith('keys/');
}

export function tablePath(table: string): string {
  return `tables/${table}.copy.gz`;
}

export function blobPath(sha256: string): string {
  return `blobs/${sha256.slice(0, 2)}/${sha256}`;
}
