import { type About, ReportError, type ReportFormat } from '@rrs/scan-reports';
import type { TrackPolicy } from '../../../assets/names/track.ts';
import type { DescribedAsset } from '../../../assets/recognize/describe.ts';
import type { SaidContents } from '../../merge/known-records.ts';
import type { StagingTable } from '../../merge/staging.ts';
import type { ScanScope } from '../manage-imports.ts';
import { reportAssets } from '../report-assets.ts';
import { inPart } from './in-part.ts';
import { namedVulnerabilities } from './named-vulnerabilities.ts';
import { chooseFormat, type FileHost, openReport } from './open-report.ts';
import { receivedBefore, type Staged, stageReport } from './stage-report.ts';

/** The stored report to read. All of it can be sent to a child process. */
export interface ReadTask {
  orgId: string;
  importId: string;
  filename: string | null;
  stored: {
    sha256: string;
    bytes: number;
    /** Of the store, if the process that reads can open it. Otherwise it asks for the bytes. */
    folder: string | null;
  };
  /** Null: the format is recognized. */
  format: string | null;
  scope: ScanScope;
  /** Whether records that say what is already known are staged as known. */
  isFast: boolean;
}

/** What the report is, before its records are read. */
export interface Found {
  format: Pick<ReportFormat, 'id' | 'states'>;
  about: About | null;
}

/** What reading the records depends on. */
interface Beginning {
  /** Keeps equal statements of different sources apart. */
  origin: string;
  policy: TrackPolicy;
  /** Assets that the run covered, even if the report does not name them. */
  covered: readonly DescribedAsset[];
  /** Whether the source has reported before, so that there can be known contents. */
  isKnown: boolean;
}

/** What reading needs of the process that has the file and the database. */
export interface ReadingHost extends FileHost {
  begin(found: Found): Promise<Beginning>;
  /** Stages the records that say what the source already says. Returns their positions. */
  stageKnown(said: SaidContents): Promise<number[]>;
  /** Copies lines into a staging table. */
  copy(table: StagingTable<never>['name'], lines: Uint8Array): Promise<void>;
  progress(records: number, bytes: number): Promise<void>;
}

export interface Read extends Found {
  staged: Staged;
  /** Remarks for users about how assets were recognized. */
  notes: string[];
  /** SHA-256 of the file without the times in it. Null if it has no times. */
  timeless: Uint8Array | null;
}

/** `refused` is a message for users, `received` how many records were read before. */
export type ReadResult = Read | { refused: string; received: number };

/** Everything that costs time in proportion to the report. */
export interface Reader {
  /** Recognizes a report, reads it and stages its records. */
  read(task: ReadTask, host: ReadingHost, signal: AbortSignal): Promise<ReadResult>;
  /** The vulnerabilities that a report names which cannot be read. */
  names(filename: string | null, host: FileHost, signal: AbortSignal): Promise<string[]>;
}

/** Reads reports of these formats on the event loop of the caller. */
export function readerOf(known: readonly ReportFormat[]): Reader {
  return {
    async read(task, host) {
      try {
        return await readReport(known, task, host);
      } catch (error) {
        if (error instanceof ReportError) return { refused: error.message, received: receivedBefore(error) };
        throw error;
      }
    },
    names: (filename, host) => namedVulnerabilities(openReport(filename, host)),
  };
}

async function readReport(known: readonly ReportFormat[], { orgId, importId, scope, filename, isFast, ...task }: ReadTask, host: ReadingHost): Promise<Read> {
  const input = openReport(filename, host);
  const format = inPart(await chooseFormat(known, task.format, input), scope.path);
  const about = (await format.about?.(input)) ?? null;
  const found: Found = { format: { id: format.id, ...(format.states ? { states: format.states } : {}) }, about };
  const { origin, policy, covered, isKnown } = await host.begin(found);
  const assets = reportAssets(scope, about?.assetType ?? format.assetType, policy);
  const staged = await stageReport(format, input, {
    orgId,
    importId,
    origin,
    assets: { ...assets, covered: (listed) => [...assets.covered(listed), ...covered] },
    stageKnown: isFast && isKnown ? (said) => host.stageKnown(said) : null,
    copy: (table, lines) => host.copy(table, Buffer.from(lines.join(''))),
    onProgress: (records) => host.progress(records, input.bytesRead()),
  });
  return { ...found, staged, notes: assets.notes(), timeless: input.timelessDigest() };
}
