import { type EvidenceDocument, type Finding, hidesText, type Person, printable } from '@rrs/evidence-format';
import { EVIDENCE, type Fault, FINDINGS } from './fault.ts';
import { actorsIn, actorsOf } from './references.ts';

/** Names by which people recognize somebody or something. The service accepts none that looks like another one because of characters that nobody sees. */
export function* nameFaults(document: EvidenceDocument): Generator<Fault> {
  const { organization, people, assets, scans, sources } = document;
  yield* hidden(EVIDENCE, 'the organization', organization.name);
  for (const { id, name } of people) yield* hidden(EVIDENCE, `the person ${id}`, name);
  for (const { id, name } of assets) yield* hidden(EVIDENCE, `the asset ${id}`, name);
  for (const { id, tool, delivery } of scans) {
    yield* hidden(EVIDENCE, `the tool of the scan ${id}`, tool);
    yield* hidden(EVIDENCE, `the connection of the scan ${id}`, delivery.connection?.name ?? '');
  }
  for (const { source } of sources) yield* hidden(EVIDENCE, 'a source', source);
  for (const [, person] of actorsIn(document)) yield* hiddenIn(EVIDENCE, person);
}

/** The same for one finding. */
export function* findingNameFaults(finding: Finding): Generator<Fault> {
  for (const source of finding.sources) yield* hidden(FINDINGS, 'a source', source);
  for (const person of actorsOf(finding)) yield* hiddenIn(FINDINGS, person);
}

function* hiddenIn(file: string, person: Person | null): Generator<Fault> {
  if (person !== null) yield* hidden(file, 'somebody who acted', person.name);
}

/** A name of the audit trail, too. */
export function* hidden(file: string, whose: string, name: string): Generator<Fault> {
  if (!hidesText(name)) return;
  yield {
    code: 'schema',
    file,
    detail: `The name of ${whose} has characters that nobody sees, or that change the direction of the text.`,
    actual: printable(name),
  };
}
