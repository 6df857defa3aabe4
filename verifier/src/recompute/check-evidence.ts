import { type EvidenceDocument, type Finding, startDerivation } from '@rrs/evidence-format';
import type { CheckContext } from '../checks/context.ts';
import { readablePaths } from '../rendering/readable-files.ts';
import type { Recorder } from '../report.ts';
import { checkApprovedStates } from './approvals.ts';
import { derivedFaults, findingDerivedFaults } from './compare.ts';
import { assetContradictions, contradictions, findingContradictions } from './contradictions.ts';
import { EVIDENCE, type Fault, FINDINGS } from './fault.ts';
import { fileFaults } from './files.ts';
import { findingNameFaults, nameFaults } from './names.ts';
import { readDocument } from './read-document.ts';
import { readFindings } from './read-findings.ts';
import { earlierFaults, findingReferenceFaults, type Known, knownIn, referenceFaults } from './references.ts';
import { scanFaults } from './scan-fitness.ts';
import { findingTimeFaults, timeFaults } from './time-order.ts';
import { addToPopulation, emptyPopulation, findingTrailFaults, populationFaults, scanListFaults, trailFaults } from './trail/agreement.ts';
import { addEvent, emptyTrailFacts, type TrailFacts } from './trail/facts.ts';
import { mergedByPeople, mergeFaults } from './trail/merges.ts';
import { readTrail } from './trail/read-trail.ts';

/** What a signed package says. */
export interface Content {
  document: EvidenceDocument;
  /** Null if they cannot be read. */
  findings: Finding[] | null;
  renderer: number;
}

/** Computes again what the package states, from its facts, its audit trail and its files. Returns null if evidence.json cannot be read. */
export async function checkEvidence(context: CheckContext): Promise<Content | null> {
  const { opened, recorder } = context;
  const read = await readDocument(opened, recorder);
  if (read === null) return null;
  const { document } = read;
  const known = knownIn(document);
  await recorder.guard('schema', EVIDENCE, () => report(recorder, documentFaults(context, document, known)));
  const approved = await checkApprovedStates(context, document);
  const derivation = startDerivation(document);
  const facts = emptyTrailFacts();
  const isUnbroken = await readTrail(context, document, (event, seq) => {
    derivation.addEvent(event, seq);
    addEvent(facts, event, { seq, itemId: document.work_item.id });
    context.onEvent(event);
  });
  if (!isUnbroken) return { ...read, findings: await readFindings(context, () => {}) };
  const derived = derivation.startFindings();
  const population = emptyPopulation();
  const merged = mergedByPeople(facts.merges);
  const findings = await readFindings(context, (finding) => {
    addToPopulation(population, finding);
    report(recorder, findingFaults(finding, { document, known, facts }));
    report(recorder, mergeFaults(finding, merged.get(finding.id)));
    report(recorder, findingDerivedFaults(finding, derived.add(finding)));
  });
  if (findings !== null)
    await recorder.guard('schema', FINDINGS, () => {
      report(recorder, trailFaults(document, facts, known));
      report(recorder, assetContradictions(document, population));
      report(recorder, populationFaults(document, facts, { ...population, approved }));
      report(recorder, scanListFaults(document, facts, population));
      report(recorder, derivedFaults(document, derived.results()));
      if (!recorder.failed('evidence'))
        recorder.setLayer(
          'evidence',
          'pass',
          `conclusion "${document.conclusion}" and grade ${document.completeness.grade} follow from the facts in the package`,
        );
    });
  return { ...read, findings };
}

function* documentFaults({ opened }: CheckContext, document: EvidenceDocument, known: Known): Generator<Fault> {
  const { folder } = opened;
  if (document.work_item.id !== folder.workItemId || document.sequence !== folder.sequence)
    yield {
      code: 'folder',
      file: EVIDENCE,
      detail: 'The name of the top-level folder has another work item or sequence.',
      expected: `${document.work_item.id}-${document.sequence}`,
      actual: `${folder.workItemId}-${folder.sequence}`,
    };
  yield* timeFaults(document);
  yield* referenceFaults(document, known);
  yield* contradictions(document, known);
  yield* nameFaults(document);
  yield* earlierFaults(document);
  yield* fileFaults(document, opened, readablePaths(document));
}

interface Against {
  document: EvidenceDocument;
  known: Known;
  facts: TrailFacts;
}

function* findingFaults(finding: Finding, { document, known, facts }: Against): Generator<Fault> {
  yield* findingReferenceFaults(finding, known, document.work_item.id);
  yield* scanFaults(finding, known);
  yield* findingContradictions(finding, known);
  yield* findingNameFaults(finding);
  yield* findingTimeFaults(finding, document);
  yield* findingTrailFaults(finding, facts, known);
}

function report(recorder: Recorder, faults: Iterable<Fault>): void {
  for (const { code, file, ...found } of faults) recorder.fail(code, file, found);
}
