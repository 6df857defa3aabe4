import {
  bagInfoOf,
  bagInfoText,
  type Evidence,
  type EvidenceDocument,
  type PackageFormat,
  type RenderContext,
  readmeText,
  schemaFiles,
  TEXT_FORMATS,
} from '@rrs/evidence-format';

export const PDF = 'data/report.pdf';

/** A file whose bytes follow from the rest of the package. */
export interface ReadableFile {
  path: string;
  text(): Iterable<string>;
}

/** The payload files that a package with these formats must have, in addition to the evidence itself. The text of the PDF is not among them. */
export function readableFiles(evidence: Evidence, context: RenderContext): ReadableFile[] {
  return [
    ...schemaFiles.map(({ path, text }) => ({ path, text: () => [text] })),
    ...formatsIn(evidence, evidence.findings.length).map(({ path, render }) => ({ path, text: () => render(evidence, context) })),
  ];
}

/** Paths of the files that do not name an original. */
export function readablePaths(document: EvidenceDocument): string[] {
  const formats = formatsIn(document, document.counts.findings).map(({ path }) => path);
  return [...schemaFiles.map(({ path }) => path), ...formats, ...(document.formats.includes('pdf') ? [PDF] : [])];
}

function formatsIn({ formats }: Pick<EvidenceDocument, 'formats'>, findings: number) {
  const wanted = new Set<PackageFormat>(formats);
  return Object.entries(TEXT_FORMATS).flatMap(([format, file]) => (wanted.has(format as PackageFormat) && (file.mayBeEmpty || findings > 0) ? [file] : []));
}

/** README.txt and bag-info.txt. */
export function tagFiles(document: EvidenceDocument, context: Pick<RenderContext, 'keys'>, payload: { bytes: number; files: number }): ReadableFile[] {
  return [
    { path: 'README.txt', text: () => [readmeText(document, context)] },
    { path: 'bag-info.txt', text: () => [bagInfoText(bagInfoOf(document, payload))] },
  ];
}
