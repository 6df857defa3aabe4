import { canonicalPieces, type Evidence, type PackageFormat } from '@rrs/evidence-format';
import type { ReportContext } from './context.ts';
import { cycloneDxVex } from './cyclonedx-vex.ts';
import { renderCsv } from './findings-csv.ts';
import { jsonPieces } from './json-pieces.ts';
import { openVex } from './openvex.ts';
import { oscalAssessmentResults } from './oscal/assessment-results.ts';
import { oscalPoam } from './oscal/poam.ts';
import { renderHtml } from './report/html.ts';
import { sarif } from './sarif.ts';

export interface EvidenceFormat {
  format: PackageFormat;
  /** Path in the bag. */
  path: string;
  mediaType: string;
  /** Whether a document without findings is valid. Other formats are left out of a package without findings. */
  mayBeEmpty: boolean;
  /** Only `json` reads `files`, so it is rendered last. */
  render(evidence: Evidence, context: ReportContext): AsyncIterable<Uint8Array>;
}

const table: Readonly<Record<PackageFormat, Omit<EvidenceFormat, 'format'>>> = {
  pdf: { path: 'data/report.pdf', mediaType: 'application/pdf', mayBeEmpty: true, render: pdf },
  html: {
    path: 'data/report.html',
    mediaType: 'text/html; charset=utf-8',
    mayBeEmpty: true,
    render: (evidence, context) => bytes(renderHtml(evidence, context)),
  },
  json: { path: 'data/evidence.json', mediaType: 'application/json', mayBeEmpty: true, render: canonical },
  csv: { path: 'data/findings.csv', mediaType: 'text/csv; charset=utf-8', mayBeEmpty: true, render: (evidence) => bytes(renderCsv(evidence)) },
  'oscal-ar': { path: 'data/formats/oscal-assessment-results.json', mediaType: 'application/json', mayBeEmpty: true, render: json(oscalAssessmentResults) },
  'oscal-poam': { path: 'data/formats/oscal-poam.json', mediaType: 'application/json', mayBeEmpty: false, render: json(oscalPoam) },
  openvex: { path: 'data/formats/openvex.json', mediaType: 'application/json', mayBeEmpty: false, render: json(openVex) },
  'cyclonedx-vex': { path: 'data/formats/cyclonedx-vex.json', mediaType: 'application/vnd.cyclonedx+json', mayBeEmpty: true, render: json(cycloneDxVex) },
  sarif: { path: 'data/formats/results.sarif', mediaType: 'application/sarif+json', mayBeEmpty: true, render: json(sarif) },
};

export const evidenceFormats: readonly EvidenceFormat[] = Object.entries(table).map(([format, rest]) => ({ format: format as PackageFormat, ...rest }));

/** The wanted formats in which this evidence can be written. */
export function possibleFormats(wanted: readonly PackageFormat[], { findings }: { findings: readonly unknown[] }): EvidenceFormat[] {
  return evidenceFormats.filter(({ format, mayBeEmpty }) => wanted.includes(format) && (mayBeEmpty || findings.length > 0));
}

/** Fonts and their parser are large, so they are loaded with the first PDF. */
async function* pdf(evidence: Evidence, context: ReportContext): AsyncGenerator<Uint8Array> {
  const { renderPdf } = await import('./pdf/report-pdf.ts');
  yield* renderPdf(evidence, context);
}

function json(documentOf: (evidence: Evidence) => object): EvidenceFormat['render'] {
  return (evidence) => bytes(lineOf(jsonPieces(documentOf(evidence))));
}

function canonical(evidence: Evidence): AsyncIterable<Uint8Array> {
  return bytes(lineOf(canonicalPieces(evidence)));
}

function* lineOf(pieces: Iterable<string>): Generator<string> {
  yield* pieces;
  yield '\n';
}

const CHUNK_LENGTH = 64 * 1024;

/** Joins short texts to chunks of bytes. */
async function* bytes(texts: Iterable<string>): AsyncGenerator<Uint8Array> {
  let buffered = '';
  for (const text of texts) {
    buffered += text;
    if (buffered.length < CHUNK_LENGTH) continue;
    yield Buffer.from(buffered);
    buffered = '';
  }
  if (buffered !== '') yield Buffer.from(buffered);
}
