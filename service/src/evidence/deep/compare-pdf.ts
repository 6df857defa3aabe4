import { createHash } from 'node:crypto';
import { type EvidenceDocument, type Finding, opensshFingerprint, type RenderContext, spkiFromPem } from '@rrs/evidence-format';
import type { OpenedPackage, StoredFile } from '@rrs/verifier';
import { renderPdf } from '../formats/pdf/report-pdf.ts';

/** `other_version`: another version of the service wrote the file, whose program may differ. */
export type PdfResult = 'same' | 'different' | 'absent' | 'other_version';

/** Writes report.pdf again and compares the bytes. The package must have been verified: its copies of the keys are then those that signed it. */
export async function comparePdf({ files }: OpenedPackage, ownVersion: string): Promise<PdfResult> {
  const stored = files.get('data/report.pdf');
  if (stored === undefined) return 'absent';
  const document = JSON.parse(textOf(files.get('data/evidence.json'))) as EvidenceDocument;
  const findings = await linesOf(files.get('data/findings.jsonl'));
  const fingerprint = (name: string): string => opensshFingerprint(spkiFromPem(textOf(files.get(`proof/keys/${name}`))));
  const context: RenderContext = {
    keys: { package: fingerprint('package.pem'), log: fingerprint('log.pem'), note: textOf(files.get('proof/keys/log-note.vkey')).trim() },
    sha256: { evidence: files.get('data/evidence.json')?.sha256 ?? '', findings: files.get('data/findings.jsonl')?.sha256 ?? '' },
  };
  const hash = createHash('sha256');
  for await (const piece of renderPdf({ ...document, findings }, context)) hash.update(piece);
  if (hash.digest('hex') === stored.sha256) return 'same';
  return document.generator.version === ownVersion ? 'different' : 'other_version';
}

function textOf(file: StoredFile | undefined): string {
  if (!file?.bytes) throw new Error('The package lacks a file that every package has.');
  return Buffer.from(file.bytes).toString('utf8');
}

async function linesOf(file: StoredFile | undefined): Promise<Finding[]> {
  const pieces: Uint8Array[] = [];
  // The verifier limits the size of the file.
  if (file) for await (const piece of file.reread()) pieces.push(Uint8Array.from(piece));
  const text = Buffer.concat(pieces).toString('utf8');
  return text === ''
    ? []
    : text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as Finding);
}
