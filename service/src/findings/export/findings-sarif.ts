import { jsonItems, type Pages } from './export.ts';
import { resultOf, SARIF_SCHEMA, SARIF_TOOL } from './sarif.ts';

/** Writes SARIF 2.1.0 with one run. */
export async function* writeSarif(pages: Pages): AsyncGenerator<string> {
  yield `{"$schema":${JSON.stringify(SARIF_SCHEMA)},"version":"2.1.0","runs":[{"tool":${JSON.stringify(SARIF_TOOL)},"results":[`;
  yield* jsonItems(pages, resultOf);
  yield ']}]}\n';
}
