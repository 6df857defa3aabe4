import { canonicalPieces, type EvidenceDocument, evidenceSchema, fromUtf8, parseStrictJson, RENDERER, validate } from '@rrs/evidence-format';
import type { OpenedPackage } from '../archive/read-package.ts';
import { LIMITS } from '../limits.ts';
import type { Recorder } from '../report.ts';
import { EVIDENCE } from './fault.ts';

const MAX_SCHEMA_FAULTS = 50;

export interface ReadDocument {
  document: EvidenceDocument;
  /** Version of the programs that wrote the readable files. */
  renderer: number;
}

/** Reads evidence.json. Returns null if its form is wrong. */
export async function readDocument({ files }: OpenedPackage, recorder: Recorder): Promise<ReadDocument | null> {
  if (!files.has(EVIDENCE)) recorder.fail('schema', EVIDENCE, 'The file is missing.');
  const bytes = files.get(EVIDENCE)?.bytes;
  return bytes ? recorder.guard('schema', EVIDENCE, () => parse(fromUtf8(bytes), recorder)) : null;
}

function parse(text: string, recorder: Recorder): ReadDocument | null {
  const value = parseStrictJson(text, { nodes: LIMITS.evidenceNodes });
  if (!isCanonical(value, text)) recorder.fail('schema', EVIDENCE, 'The file is not canonical JSON (RFC 8785) followed by a line feed.');
  const renderer = rendererOf(value);
  const faults = validate(evidenceSchema, renderer === RENDERER ? value : { ...(value as object), renderer: RENDERER });
  for (const { path, message } of faults.slice(0, MAX_SCHEMA_FAULTS)) recorder.fail('schema', EVIDENCE, `${path === '' ? 'The document' : path} ${message}.`);
  return faults.length === 0 ? { document: value as EvidenceDocument, renderer } : null;
}

/** A later version of the readable files is not a fault: the document stays the same. Anything but a version is left to the schema. */
function rendererOf(value: unknown): number {
  const renderer = value !== null && typeof value === 'object' && 'renderer' in value ? value.renderer : null;
  return typeof renderer === 'number' && Number.isInteger(renderer) && renderer > RENDERER ? renderer : RENDERER;
}

function isCanonical(value: unknown, text: string): boolean {
  let at = 0;
  for (const piece of canonicalPieces(value)) {
    if (!text.startsWith(piece, at)) return false;
    at += piece.length;
  }
  return text.slice(at) === '\n';
}
