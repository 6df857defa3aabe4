import { type Evidence, evidenceText, findingsText, type PackageFormat, type RenderContext, TEXT_FORMATS, type TextFormat } from '@rrs/evidence-format';

export interface EvidenceFormat {
  format: PackageFormat;
  /** Path in the bag. */
  path: string;
  mediaType: string;
  /** Whether a document without findings is valid. Other formats are left out of a package without findings. */
  mayBeEmpty: boolean;
  render(evidence: Evidence, context: RenderContext): AsyncIterable<Uint8Array>;
}

const table: Readonly<Record<PackageFormat, Omit<EvidenceFormat, 'format'>>> = {
  pdf: { path: 'data/report.pdf', mediaType: 'application/pdf', mayBeEmpty: true, render: pdf },
  html: inBytes(TEXT_FORMATS.html),
  json: { path: 'data/evidence.json', mediaType: 'application/json', mayBeEmpty: true, render: (evidence) => inChunks(evidenceText(evidence)) },
  jsonl: { path: 'data/findings.jsonl', mediaType: 'application/jsonl', mayBeEmpty: true, render: (evidence) => inChunks(findingsText(evidence)) },
  csv: inBytes(TEXT_FORMATS.csv),
  'oscal-ar': inBytes(TEXT_FORMATS['oscal-ar']),
  'oscal-poam': inBytes(TEXT_FORMATS['oscal-poam']),
  openvex: inBytes(TEXT_FORMATS.openvex),
  'cyclonedx-vex': inBytes(TEXT_FORMATS['cyclonedx-vex']),
  sarif: inBytes(TEXT_FORMATS.sarif),
};

export const evidenceFormats: readonly EvidenceFormat[] = Object.entries(table).map(([format, rest]) => ({ format: format as PackageFormat, ...rest }));

function inBytes({ render, ...rest }: TextFormat): Omit<EvidenceFormat, 'format'> {
  return { ...rest, render: (evidence, context) => inChunks(render(evidence, context)) };
}

/** The evidence itself. The other formats show its hashes. */
export const isEvidence = (format: PackageFormat): boolean => format === 'json' || format === 'jsonl';

/** The wanted formats in which this evidence can be written. */
export function possibleFormats(wanted: readonly PackageFormat[], { findings }: { findings: readonly unknown[] }): EvidenceFormat[] {
  return evidenceFormats.filter(({ format, mayBeEmpty }) => wanted.includes(format) && (mayBeEmpty || findings.length > 0));
}

/** Fonts and their parser are large, so they are loaded with the first PDF. */
async function* pdf(evidence: Evidence, context: RenderContext): AsyncGenerator<Uint8Array> {
  const { renderPdf } = await import('./pdf/report-pdf.ts');
  yield* renderPdf(evidence, context);
}

const CHUNK_LENGTH = 64 * 1024;

/** Joins short texts to chunks of bytes. */
async function* inChunks(texts: Iterable<string>): AsyncGenerator<Uint8Array> {
  let buffered = '';
  for (const text of texts) {
    buffered += text;
    if (buffered.length < CHUNK_LENGTH) continue;
    yield Buffer.from(buffered);
    buffered = '';
  }
  if (buffered !== '') yield Buffer.from(buffered);
}
