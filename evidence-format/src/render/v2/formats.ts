import type { Evidence, PackageFormat } from '../../document/evidence.ts';
import { canonicalJson, canonicalPieces } from '../../json/jcs.ts';
import type { RenderContext } from './context.ts';
import { renderCsv } from './csv.ts';
import { cycloneDxVex } from './cyclonedx-vex.ts';
import { renderHtml } from './html/html.ts';
import { jsonPieces } from './json-pieces.ts';
import { openVex } from './openvex.ts';
import { oscalAssessmentResults } from './oscal/assessment-results.ts';
import { oscalPoam } from './oscal/poam.ts';
import { sarif } from './sarif.ts';

/** A readable file that anybody who has the package can write again, byte for byte. */
export interface TextFormat {
  /** Path in the package. */
  path: string;
  mediaType: string;
  /** Whether a document without findings is valid. Other formats are left out of a package without findings. */
  mayBeEmpty: boolean;
  render(evidence: Evidence, context: RenderContext): Iterable<string>;
}

/** Every format except the PDF, which needs fonts, and the evidence itself. */
export const TEXT_FORMATS: Readonly<Record<Exclude<PackageFormat, 'pdf' | 'json' | 'jsonl'>, TextFormat>> = {
  html: { path: 'data/report.html', mediaType: 'text/html; charset=utf-8', mayBeEmpty: true, render: renderHtml },
  csv: { path: 'data/findings.csv', mediaType: 'text/csv; charset=utf-8', mayBeEmpty: true, render: renderCsv },
  'oscal-ar': { path: 'data/formats/oscal-assessment-results.json', mediaType: 'application/json', mayBeEmpty: true, render: json(oscalAssessmentResults) },
  'oscal-poam': { path: 'data/formats/oscal-poam.json', mediaType: 'application/json', mayBeEmpty: false, render: json(oscalPoam) },
  openvex: { path: 'data/formats/openvex.json', mediaType: 'application/json', mayBeEmpty: false, render: json(openVex) },
  'cyclonedx-vex': { path: 'data/formats/cyclonedx-vex.json', mediaType: 'application/vnd.cyclonedx+json', mayBeEmpty: true, render: json(cycloneDxVex) },
  sarif: { path: 'data/formats/results.sarif', mediaType: 'application/sarif+json', mayBeEmpty: true, render: json(sarif) },
};

function json(documentOf: (evidence: Evidence) => object): TextFormat['render'] {
  return (evidence) => lineOf(jsonPieces(documentOf(evidence)));
}

function* lineOf(pieces: Iterable<string>): Generator<string> {
  yield* pieces;
  yield '\n';
}

/** data/evidence.json: everything except the findings. */
export function evidenceText({ findings: _, ...rest }: Evidence): Iterable<string> {
  return lineOf(canonicalPieces(rest));
}

/** data/findings.jsonl: one canonical line per finding. */
export function* findingsText({ findings }: Pick<Evidence, 'findings'>): Generator<string> {
  for (const finding of findings) yield `${canonicalJson(finding)}\n`;
}
