import { type ExportedFinding, jsonItems, type Pages } from './export.ts';
import { resultOf, SARIF_SCHEMA, SARIF_TOOL } from './sarif.ts';

/** Writes SARIF 2.1.0 with one run. */
export async function* writeSarif(pages: Pages): AsyncGenerator<string> {
  yield `{"$schema":${JSON.stringify(SARIF_SCHEMA)},"version":"2.1.0","runs":[{"tool":${JSON.stringify(SARIF_TOOL)},"results":[`;
  yield* jsonItems(pages, importableResult);
  yield ']}]}\n';
}

/** SARIF has no fields for assets, packages and ports, so the property bag has what an import needs to recognize the finding. */
function importableResult(finding: ExportedFinding) {
  const { properties, ...result } = resultOf(finding);
  const { weakness, rule, location, description, solution, references, sources, epss, kev } = finding;
  const { exploit_maturity, malicious, fix_state, fix_published_date } = finding;
  const { status_reason, justification, suppressed, occurrences } = finding;
  return {
    ...result,
    properties: {
      ...properties,
      weakness,
      rule,
      location,
      description,
      solution,
      references,
      sources,
      epss,
      kev,
      exploit_maturity,
      malicious,
      fix_state,
      fix_published_date,
      status_reason,
      justification,
      suppressed,
      occurrences,
    },
  };
}
