import { createHash } from 'node:crypto';
import {
  bagInfoText,
  bagitText,
  canonicalJson,
  type Evidence,
  evidenceSchemaText,
  type Finding,
  manifestText,
  type ReadmeFacts,
  readmeText,
} from '@rrs/evidence-format';
import type { BlobStore } from '../../blobs/blobs.ts';
import { TRAIL_FILE } from '../content/trail.ts';
import type { ReportContext, ReportedEvidence } from '../formats/context.ts';
import { type EvidenceFormat, evidenceFormats } from '../formats/formats.ts';
import { renderTimeline } from '../formats/timeline.ts';

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
type SealedEvidence = Omit<Evidence, 'findings' | 'files'> & { findings: Pick<Finding, 'id' | 'state'>[] };

export function inMemory(path: string, mediaType: string, text: string): BagFile {
  const bytes = Buffer.from(text);
  return { path, size: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex'), mediaType, bytes };
}

const JSON_TYPE = 'application/json';
const TEXT_TYPE = 'text/plain; charset=utf-8';

export interface BagParts {
  reported: ReportedEvidence;
  context: ReportContext;
  formats: readonly EvidenceFormat[];
  trail: readonly string[];
  readme: Pick<ReadmeFacts, 'folder' | 'origin' | 'keys' | 'stamped'>;
}

/** Renders each format into the blob store. evidence.json comes last because it contains the hashes of all other files. */
export async function writeBag(blobs: BlobStore, { reported, context, formats, trail, readme }: BagParts): Promise<Bag> {
  const stored = async (path: string, mediaType: string, content: AsyncIterable<Uint8Array>): Promise<BagFile> => {
    const { sha256, size } = await blobs.put(content);
    return { path, size, sha256, mediaType, bytes: null };
  };
  const documents: BagFile[] = [];
  for (const { format, path, mediaType, render } of formats)
    if (format !== 'json') documents.push(await stored(path, mediaType, render({ ...reported, files: [] }, context)));
  const others = [
    ...originalFiles(reported),
    ...documents,
    await stored(TRAIL_FILE, 'application/jsonl', lines(trail)),
    inMemory('data/timeline.json', JSON_TYPE, renderTimeline(context.timeline)),
    inMemory('data/findings/before.json', JSON_TYPE, stateFile(reported, 'before')),
    inMemory('data/findings/after.json', JSON_TYPE, stateFile(reported, 'after')),
    inMemory('data/schemas/evidence-package-v1.schema.json', 'application/schema+json', evidenceSchemaText),
  ].sort(byPath);
  const evidence: Evidence = { ...reported, files: others.map(({ path, size, sha256, mediaType }) => ({ path, size, sha256, media_type: mediaType })) };
  const json = evidenceFormats.find(({ format }) => format === 'json') as EvidenceFormat;
  const payload = [...others, await stored(json.path, json.mediaType, json.render(evidence, context))].sort(byPath);
  const findings = evidence.findings.map(({ id, state }) => ({ id, state }));
  return { evidence: { ...reported, findings }, payload, tags: tagsOf(evidence, payload, readme) };
}

const byPath = (a: { path: string }, b: { path: string }): number => (a.path < b.path ? -1 : 1);

async function* lines(texts: readonly string[]): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < texts.length; at += 500) yield Buffer.from(texts.slice(at, at + 500).join(''));
}

/** Scan reports and artifacts as received, each with its metadata in meta.json. */
function originalFiles({ scans, artifacts }: ReportedEvidence): BagFile[] {
  const originals = [...scans.map((scan) => ({ ...scan, media_type: 'application/octet-stream' })), ...artifacts];
  return originals.flatMap((original) => {
    const { file, size, sha256, media_type } = original;
    const folder = file === null ? `data/artifacts/${original.id}` : file.replace(/\/[^/]+$/, '');
    const isScan = 'phase' in original;
    const meta = isScan && file === null ? [] : [inMemory(`${folder}/meta.json`, JSON_TYPE, `${canonicalJson(original)}\n`)];
    if (file === null || size === null || sha256 === null) return meta;
    return [{ path: file, size, sha256, mediaType: media_type ?? 'application/octet-stream', bytes: null }, ...meta];
  });
}

function stateFile({ findings }: ReportedEvidence, side: 'before' | 'after'): string {
  const list = findings.map((finding) => ({ id: finding.id, title: finding.title, asset: finding.asset.name, ...finding[side] }));
  return `${canonicalJson({ findings: list })}\n`;
}

function tagsOf(evidence: Evidence, payload: readonly BagFile[], { folder, origin, keys, stamped }: BagParts['readme']): BagFile[] {
  const { organization, work_item, conclusion, completeness } = evidence;
  const facts: ReadmeFacts = {
    folder,
    packageId: evidence.package_id,
    organization: organization.name,
    workItemTitle: work_item.title,
    generatedAt: evidence.generated_at,
    asOf: evidence.as_of,
    status: conclusion.status,
    grade: completeness.grade,
    gaps: completeness.gaps,
    stamped,
    origin,
    keys,
  };
  const info = bagInfoText({
    softwareAgent: `${evidence.generator.name} ${evidence.generator.version}`,
    date: evidence.generated_at.slice(0, 10),
    packageId: evidence.package_id,
    workItemId: work_item.id,
    organization: organization.name,
    payload: { bytes: payload.reduce((sum, { size }) => sum + size, 0), files: payload.length },
  });
  const listed = [
    inMemory('README.txt', TEXT_TYPE, readmeText(facts)),
    inMemory('bag-info.txt', TEXT_TYPE, info),
    inMemory('bagit.txt', TEXT_TYPE, bagitText),
    inMemory('manifest-sha256.txt', TEXT_TYPE, manifestText(payload)),
  ];
  return [...listed, inMemory('tagmanifest-sha256.txt', TEXT_TYPE, manifestText(listed))];
}
