import { anyText, choice, constant, field, list, name, nullable, type Of, object, set, sha256Text, time, uuid, whole } from '../json/typed-schema.ts';
import { CONCLUSIONS, EVIDENCE_SCHEMA_ID, type Evidence, FINDING_STATES, GRADES, PACKAGE_FORMATS, SEVERITIES } from './evidence.ts';
import { approval, artifact, check, collection, control, file, finding, gap, person, redaction, scan, workItem } from './schema-parts.ts';

function countPer<K extends string>(keys: readonly K[]): Of<Record<K, number>> {
  return object<Record<K, number>>(Object.fromEntries(keys.map((key) => [key, field('Number of findings.', whole(0))])) as Record<K, Of<number>>);
}

export const evidenceSchema: Of<Evidence> = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  $id: EVIDENCE_SCHEMA_ID,
  title: 'Remediation evidence',
  description:
    'Content of data/evidence.json in an evidence package, version 1. Times are RFC 3339 in UTC with milliseconds. The package format defines further rules that a JSON Schema cannot express.',
  ...object<Evidence>({
    schema: field('Identifier of this schema.', constant(EVIDENCE_SCHEMA_ID)),
    package_id: field('ID of the package.', uuid),
    sequence: field('Number of the package among the packages of its work item, starting at 1.', whole(1)),
    supersedes: field(
      'Earlier package that this one replaces, or null.',
      nullable(
        object<NonNullable<Evidence['supersedes']>>({
          package_id: field('ID of the earlier package.', uuid),
          sequence: field('Number of the earlier package.', whole(1)),
        }),
      ),
    ),
    organization: field(
      'Organization that owns the work item.',
      object<Evidence['organization']>({ id: field('ID of the organization.', uuid), name: field('Name of the organization.', name) }),
    ),
    work_item: field('Work item that the package documents.', workItem),
    as_of: field('Point in time whose state the package describes.', time),
    generated_at: field('When the package was generated.', time),
    generator: field(
      'Software that generated the package.',
      object<Evidence['generator']>({ name: field('Name of the software.', name), version: field('Version of the software.', name) }),
    ),
    requested_by: field('Who requested the package.', person),
    note: field('Note of the requester, or null.', nullable(anyText)),
    conclusion: field(
      'Outcome of the remediation, derived from the states of the findings.',
      object<Evidence['conclusion']>({
        status: field('Conclusion.', choice(CONCLUSIONS)),
        reasons: field('Sentences that explain the conclusion.', list(anyText)),
      }),
    ),
    completeness: field(
      'How complete the evidence is.',
      object<Evidence['completeness']>({
        grade: field('A: no gaps. B: only minor gaps. C: one kind of major gap. D: two or more kinds.', choice(GRADES)),
        gaps: field('What is missing.', list(gap)),
      }),
    ),
    counts: field(
      'Totals of the lists below.',
      object<Evidence['counts']>({
        findings: field('Number of findings.', whole(0)),
        by_status: field('Findings per state.', countPer(FINDING_STATES)),
        by_severity: field('Findings per severity.', countPer(SEVERITIES)),
        artifacts: field('Number of artifacts, including removed ones.', whole(0)),
        scans: field('Number of scans.', whole(0)),
      }),
    ),
    findings: field('Findings linked to the work item.', list(finding)),
    scans: field('Scans that show the state before or after the fix.', list(scan)),
    artifacts: field('Documents and links attached to the work item.', list(artifact)),
    approvals: field('Approvals and rejections of the work.', list(approval)),
    checks: field('Checks of the process, such as separation of duties.', list(check)),
    controls: field('Proposed mapping to the controls of compliance frameworks. The auditor decides what counts.', list(control)),
    collection: field('How each original file was collected.', list(collection)),
    redactions: field('Values that were removed from files before sealing.', list(redaction)),
    audit_trail: field(
      'Audit trail in the package.',
      object<Evidence['audit_trail']>({
        file: field('Path of the audit trail.', file),
        events: field('Number of events.', whole(0)),
        head: field('SHA-256 of the last line in hexadecimal, or 64 zeros if there are no events.', sha256Text),
      }),
    ),
    abandoned_leaves: field(
      'Log leaves of earlier attempts that were interrupted before a package was published.',
      list(
        object<Evidence['abandoned_leaves'][number]>({
          index: field('Index of the leaf in the log, starting at 0.', whole(0)),
          leaf_sha256: field('Leaf hash in hexadecimal.', sha256Text),
          reason: field('Why the leaf has no package.', anyText),
        }),
      ),
    ),
    formats: field('Formats that the package contains.', set(choice(PACKAGE_FORMATS))),
    files: field(
      'All files under data/ except evidence.json.',
      list(
        object<Evidence['files'][number]>({
          path: field('Path in the package.', file),
          size: field('Size in bytes.', whole(0)),
          sha256: field('SHA-256 in hexadecimal.', sha256Text),
          media_type: field('Media type.', name),
        }),
      ),
    ),
  }),
};

/** data/schemas/evidence-package-v1.schema.json. */
export const evidenceSchemaText = `${JSON.stringify(evidenceSchema, null, 2)}\n`;
