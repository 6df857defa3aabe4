import type { EvidenceDocument } from '@rrs/evidence-format';
import type { OpenedPackage } from '../archive/read-package.ts';
import { EVIDENCE, type Fault, FINDINGS, TRAIL } from './fault.ts';

interface NamedFile {
  what: string;
  path: string;
  size: number | null;
  sha256: string | null;
}

/** Checks that every file that the document names is in the package with the stated content, and that the package has no other file. */
export function* fileFaults(document: EvidenceDocument, { files }: OpenedPackage, readable: Iterable<string>): Generator<Fault> {
  const expected = new Set([EVIDENCE, FINDINGS, TRAIL, ...readable]);
  for (const { id } of document.approvals) expected.add(approvalPath(id));
  for (const { what, path, size, sha256 } of originals(document)) {
    expected.add(path);
    const stored = files.get(path);
    if (stored !== undefined && path.startsWith('data/') && (stored.size !== size || stored.sha256 !== sha256))
      yield {
        code: 'file_reference',
        file: path,
        detail: `The size or hash differs from ${what}.`,
        expected: `${size} bytes, ${sha256}`,
        actual: `${stored.size} bytes, ${stored.sha256}`,
      };
  }
  for (const format of ['json', 'html'] as const)
    if (!document.formats.includes(format)) yield { code: 'file_reference', file: EVIDENCE, detail: `\`formats\` lacks ${format}, which is in every package.` };
  for (const path of expected)
    if (!files.has(path) || !path.startsWith('data/')) yield { code: 'file_reference', file: path, detail: 'The file is not in the package.' };
  for (const path of files.keys())
    if (path.startsWith('data/') && !expected.has(path)) yield { code: 'file_reference', file: path, detail: 'Nothing in evidence.json names this file.' };
}

export function approvalPath(id: string): string {
  return `data/approvals/${id}.jsonl`;
}

function originals({ scans, artifacts, collection }: EvidenceDocument): NamedFile[] {
  const records = [
    ...scans.map((scan) => ({ ...scan, what: `the scan ${scan.id}` })),
    ...artifacts.map((artifact) => ({ ...artifact, what: `the artifact ${artifact.id}` })),
    ...collection.map((record) => ({ ...record, what: 'a record in `collection`' })),
  ];
  return records.flatMap(({ what, file, size, sha256 }) => (file === null ? [] : [{ what, path: file, size, sha256 }]));
}
