import type { EvidenceDocument } from '@rrs/evidence-format';
import type { CheckContext } from './context.ts';
import { PROOF } from './proof-files.ts';

/** Checks that the package belongs to the organization and the log that the caller expects. Organizations of one service share its keys. */
export function checkOwner({ trust, recorder }: CheckContext, { organization }: EvidenceDocument, origin: string): void {
  if (trust.organization !== null && trust.organization !== organization.id)
    recorder.fail('organization', 'data/evidence.json', {
      detail: 'The package belongs to another organization.',
      expected: trust.organization,
      actual: `${organization.id} (${organization.name})`,
    });
  if (trust.origin !== null && !covers(trust.origin, origin))
    recorder.fail('origin', PROOF.tlogProof, { detail: 'The package is in another log.', expected: trust.origin, actual: origin });
  if (trust.origins.length > 0 && !trust.origins.some((name) => covers(name, origin)))
    recorder.fail('origin', PROOF.tlogProof, {
      detail: 'Your list of keys does not name the log of this package.',
      expected: trust.origins.join(' or '),
      actual: origin,
    });
}

/** A host stands for every log on it. */
function covers(name: string, origin: string): boolean {
  return origin === name || origin.startsWith(`${name}/`);
}
