import { createHash } from 'node:crypto';
import {
  bagInfoOf,
  bagInfoText,
  bagitText,
  type Evidence,
  type EvidenceDocument,
  type Finding,
  manifestText,
  type RenderContext,
  readmeText,
  schemaFiles,
} from '@rrs/evidence-format';
import type { BlobStore } from '../../blobs/blobs.ts';
import { TRAIL_FILE } from '../content/trail.ts';
import { type EvidenceFormat, isEvidence } from '../formats/formats.ts';

/** A file of the bag. `bytes` is null for large files, which are in the blob store. */
export interface BagFile {
  path: string;
  size: number;
  sha256: string;
  mediaType: string;
  bytes: Uint8Array | null;
}

export interface Bag {
  evidence: SealedEvidence;
  /** Under data/, sorted by path. */
  payload: BagFile[];
  /** Files outside data/, such as README.txt and the manifests. */
  tags: BagFile[];
}

/** What publishing needs. There can be thousands of findings, so only their ids and states are kept. */
type SealedEvidence = EvidenceDocument & { findings: Pick<Finding, 'id' | 'state'>[] };

export function inMemory(path: string, mediaType: string, text: string): BagFile {
  const bytes = Buffer.from(text);
  return { path, size: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex'), mediaType, bytes };
}

const JSONL_TYPE = 'application/jsonl';
const TEXT_TYPE = 'text/plain; charset=utf-8';

export interface BagParts {
  evidence: Evidence;
  keys: RenderContext['keys'];
  formats: readonly EvidenceFormat[];
  /** The lines of the audit trail, in pieces. */
  trail: readonly Uint8Array[];
  /** Lines of the states that were approved, by digest. */
  approvedStates: ReadonlyMap<string, string>;
}

/** Renders each format into the blob store. The evidence itself comes first, because the reports show its hashes. */
export async function writeBag(blobs: Pick<BlobStore, 'put'>, { evidence, keys, formats, trail, approvedStates }: BagParts): Promise<Bag> {
  const stored = async (path: string, mediaType: string, content: AsyncIterable<Uint8Array>): Promise<BagFile> => {
    const { sha256, size } = await blobs.put(content);
    return { path, size, sha256, mediaType, bytes: null };
  };
  const context: RenderContext = { keys, sha256: { evidence: '', findings: '' } };
  const documents: BagFile[] = [];
  for (const { format, path, mediaType, render } of formats.toSorted((a, b) => Number(isEvidence(b.format)) - Number(isEvidence(a.format)))) {
    const document = await stored(path, mediaType, render(evidence, context));
    documents.push(document);
    if (format === 'json') context.sha256.evidence = document.sha256;
    if (format === 'jsonl') context.sha256.findings = document.sha256;
  }
  const payload = [
    ...originalFiles(evidence),
    ...documents,
    await stored(TRAIL_FILE, JSONL_TYPE, each(trail)),
    ...evidence.approvals.map(({ id, state_sha256 }) => inMemory(`data/approvals/${id}.jsonl`, JSONL_TYPE, `${approvedStates.get(state_sha256) ?? ''}\n`)),
    ...schemaFiles.map(({ path, text }) => inMemory(path, 'application/schema+json', text)),
  ].sort(byPath);
  const findings = evidence.findings.map(({ id, state }) => ({ id, state }));
  return { evidence: { ...evidence, findings }, payload, tags: tagsOf(evidence, payload, context) };
}

const byPath = (a: { path: string }, b: { path: string }): number => (a.path < b.path ? -1 : 1);

async function* each(pieces: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* pieces;
}

/** Scan reports and artifacts as received. */
function originalFiles({ scans, artifacts }: Evidence): BagFile[] {
  const originals = [...scans.map((scan) => ({ ...scan, media_type: null })), ...artifacts];
  return originals.flatMap(({ file, size, sha256, media_type }) =>
    file === null || size === null || sha256 === null ? [] : [{ path: file, size, sha256, mediaType: media_type ?? 'application/octet-stream', bytes: null }],
  );
}

function tagsOf(evidence: Evidence, payload: readonly BagFile[], context: RenderContext): BagFile[] {
  const info = bagInfoOf(evidence, { bytes: payload.reduce((sum, { size }) => sum + size, 0), files: payload.length });
  const listed = [
    inMemory('README.txt', TEXT_TYPE, readmeText(evidence, context)),
    inMemory('bag-info.txt', TEXT_TYPE, bagInfoText(info)),
    inMemory('bagit.txt', TEXT_TYPE, bagitText),
    inMemory('manifest-sha256.txt', TEXT_TYPE, manifestText(payload)),
  ];
  return [...listed, inMemory('tagmanifest-sha256.txt', TEXT_TYPE, manifestText(listed))];
}
