import { CONCLUSIONS, EVIDENCE_SCHEMA_ID, type EvidenceDocument, GRADES, PACKAGE_FORMATS, RENDERER } from '../document/evidence.ts';
import { anyText, choice, constant, field, flag, list, name, nullable, type Of, object, set, sha256Text, time, uuid, whole } from '../json/typed-schema.ts';
import { findingSchema } from './finding.ts';
import { abandonedLeaves, approval, artifact, auditTrail, collection, person, personFacts, redaction, workItem } from './parts.ts';
import { check, control, counts, decision, gap, selection } from './results.ts';
import { scan } from './scan.ts';
import { assetScope, earlierPackage, policyVersion, sourceOnAsset, unlinkedFinding } from './scope.ts';

export const evidenceSchema: Of<EvidenceDocument> = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  $id: EVIDENCE_SCHEMA_ID,
  title: 'Remediation evidence',
  description:
    'Content of data/evidence.json in an evidence package, version 2. Times are RFC 3339 in UTC with milliseconds. The package format defines further rules that a JSON Schema cannot express.',
  ...object<EvidenceDocument>({
    schema: field('Identifier of this schema.', constant(EVIDENCE_SCHEMA_ID)),
    renderer: field('Version of the programs that write the readable files.', constant(RENDERER)),
    package_id: field('ID of the package.', uuid),
    sequence: field('Number of the package among the packages of its work item, starting at 1.', whole(1)),
    earlier: field('All packages of the work item with a lower sequence, in order.', list(earlierPackage)),
    log: field(
      'The log in which the package is recorded.',
      object<EvidenceDocument['log']>({
        origin: field('Origin of the log.', name),
        epoch: field('Epoch of the log, starting at 1.', whole(1)),
        started_at: field('When the epoch started.', time),
      }),
    ),
    organization: field(
      'Organization that owns the work item.',
      object<EvidenceDocument['organization']>({ id: field('ID of the organization.', uuid), name: field('Name of the organization.', name) }),
    ),
    work_item: field('Work item that the package documents.', workItem),
    as_of: field('Point in time whose state the package describes.', time),
    generated_at: field('When the package was generated.', time),
    generator: field(
      'Software that generated the package.',
      object<EvidenceDocument['generator']>({
        name: field('Name of the software.', name),
        version: field('Version of the software.', name),
        build_sha256: field('SHA-256 over the files of the program in hexadecimal, or null.', nullable(sha256Text)),
      }),
    ),
    clock: field(
      'Clock of the operating system of the service, on which all times rest.',
      object<EvidenceDocument['clock']>({
        database_offset_ms: field('Difference to the clock of the database in milliseconds.', whole(0)),
      }),
    ),
    frameworks: field('Compliance frameworks that the organization chose. Empty: all of them.', set(name)),
    requested_by: field('Who requested the package.', person),
    note: field('Note of the requester, or null.', nullable(anyText)),
    policies: field('Policies that were in force since the earliest finding was first seen, oldest first.', list(policyVersion)),
    people: field('Everybody who acts in the audit trail, and the owners and admins at `as_of`.', list(personFacts)),
    ownerless_keys: field('Number of API keys at `as_of` behind which no member stands.', whole(0)),
    assets: field('Assets of the findings, and what else is open there.', list(assetScope)),
    sources: field('What each source last said about each asset.', list(sourceOnAsset)),
    unlinked: field('Findings that were removed from the work item.', list(unlinkedFinding)),
    scans: field('Scans that say something about the findings.', list(scan)),
    artifacts: field('Documents and links attached to the work item.', list(artifact)),
    approvals: field('Approvals and rejections of the work.', list(approval)),
    collection: field('How each original file was collected.', list(collection)),
    redactions: field('Values that were removed from files before sealing.', list(redaction)),
    audit_trail: field('Audit trail in the package.', auditTrail),
    abandoned_leaves: field('Log leaves of earlier attempts that were interrupted before a package was published.', abandonedLeaves),
    timestamped: field('Whether a time-stamping authority is asked for a timestamp.', flag),
    witnessed: field('Whether witnesses are asked to sign the checkpoint. Null if none is configured.', nullable(flag)),
    formats: field('Formats that the package contains.', set(choice(PACKAGE_FORMATS))),
    conclusion: field('Outcome of the remediation. Follows from the standings of the findings.', choice(CONCLUSIONS)),
    completeness: field(
      'How complete the evidence is.',
      object<EvidenceDocument['completeness']>({
        grade: field('A: no gaps. B: only minor gaps. C: one kind of major gap. D: two or more kinds.', choice(GRADES)),
        gaps: field('What an auditor would ask about.', list(gap)),
      }),
    ),
    counts: field('Totals.', counts),
    checks: field('Checks of the process, such as separation of duties.', list(check)),
    decisions: field('Every human act that made the result look better, in the order of the audit trail.', list(decision)),
    controls: field('What the package says about controls of compliance frameworks. The auditor decides what counts.', list(control)),
    selections: field('How the findings got into the work item: the first 200 acts, in the order of the audit trail.', list(selection)),
  }),
};

const textOf = (schema: object): string => `${JSON.stringify(schema, null, 2)}\n`;

/** The schemas that every package contains. */
export const schemaFiles: readonly { path: string; text: string }[] = [
  { path: 'data/schemas/evidence-finding-v2.schema.json', text: textOf(findingSchema) },
  { path: 'data/schemas/evidence-package-v2.schema.json', text: textOf(evidenceSchema) },
];
