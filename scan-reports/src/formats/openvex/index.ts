import { ReportError, type ReportFormat, type ReportHead, type ReportInput } from '../../contract.ts';
import { hasKeys, headOf } from '../../detect.ts';
import { jsonValues, placeOf } from '../../json/values.ts';
import { name } from '../../names/clean-text.ts';
import { notThisFormat } from '../../shared/input.ts';
import { RecordError, record } from '../../shared/normalize.ts';
import { date, isObj, str } from '../../shared/read.ts';
import { type Document, observationsOf } from './statement.ts';

export const openvex: ReportFormat = {
  id: 'openvex',
  name: 'OpenVEX',
  description: 'OpenVEX documents of vexctl and other tools, and the OpenVEX export of this service. State `scan_scope.asset` if the products are packages',
  documentation: 'https://github.com/openvex/spec/blob/main/OPENVEX-SPEC.md',
  expects: 'a JSON object with an @context of openvex.dev and statements',
  assetType: 'package',
  detect: isOpenVex,
  async about(input) {
    return { tools: [(await readDocument(input)).author], finished: true, unread: [] };
  },
  async *read(input) {
    const document = await readDocument(input);
    for await (const found of jsonValues(input, ['statements.*'])) {
      const place = placeOf(found);
      yield* record(place, () => {
        if (found.error || !isObj(found.value)) throw new RecordError(found.error ?? 'the statement is not an object');
        return observationsOf(found.value, place, document);
      });
    }
  },
};

function isOpenVex(head: ReportHead): boolean {
  return head.jsonShape === 'object' && hasKeys(head, '@context') && /"@context"\s*:\s*"[^"]*openvex\.dev\/ns/i.test(head.text);
}

/** The facts that hold for all statements. They may come after the statements. */
async function readDocument(input: ReportInput): Promise<Document> {
  if (!isOpenVex(await headOf(input))) throw notThisFormat(openvex.expects);
  const document: Document = { author: 'openvex', time: null };
  let updated: Date | null = null;
  for await (const { pattern, value, error } of jsonValues(input, ['author', 'timestamp', 'last_updated'])) {
    if (error) throw new ReportError('The document is not valid JSON.');
    if (pattern === 0) document.author = name(str(value) ?? '').toLowerCase() || document.author;
    else if (pattern === 1) document.time = date(value);
    else updated = date(value);
  }
  return { ...document, time: updated ?? document.time };
}
