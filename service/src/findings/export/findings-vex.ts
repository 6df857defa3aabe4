import { newId } from '../../shared/ids.ts';
import { type ExportContext, jsonItems, type Pages } from './export.ts';
import { componentOf, cycloneDxHead, openVexHead, statementOf, vulnerabilityOf } from './vex.ts';

export async function* writeCycloneDx(pages: Pages, { started, assets }: ExportContext): AsyncGenerator<string> {
  yield `${unclosed(cycloneDxHead(newId(), started.toISOString()))},"vulnerabilities":[`;
  yield* jsonItems(pages, vulnerabilityOf);
  yield '],"components":[';
  yield* jsonItems(assets(), componentOf);
  yield ']}\n';
}

export async function* writeOpenVex(pages: Pages, { organization, started }: ExportContext): AsyncGenerator<string> {
  yield `${unclosed(openVexHead(newId(), organization, started.toISOString()))},"statements":[`;
  yield* jsonItems(pages, statementOf);
  yield ']}\n';
}

/** The JSON of an object without its closing brace, so that lists can be appended. */
const unclosed = (head: object): string => JSON.stringify(head).slice(0, -1);
