import { anyText, choice, constant, described as d, list, name, nullable, type Of, object, set, sha256Text, time, uuid, whole } from '../json/typed-schema.ts';
import { CONCLUSIONS, EVIDENCE_SCHEMA_ID, type Evidence, FINDING_STATES, GRADES, PACKAGE_FORMATS, SEVERITIES } from './evidence.ts';
import { approval, artifact, check, collection, control, file, finding, gap, person, redaction, scan, workItem } from './schema-parts.ts';

function countPer<K extends string>(keys: readonly K[]): Of<Record<K, number>> {
  return object<Record<K, number>>(Object.fromEntries(keys.map((key) => [key, d('Number of findings.', whole(0))])) as Record<K, Of<number>>);
}

export const evidenceSchema: Of<Evidence> = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  $id: EVIDENCE_SCHEMA_ID,
  title: 'Remediation evidence',
  description:
    'Content of data/evidence.json in an evidence package, version 1. Times are RFC 3339 in UTC with milliseconds. The package format defines further rules that a JSON Schema cannot express.',
  ...object<Evidence>({
    schema: d('Identifier of this schema.', constant(EVIDENCE_SCHEMA_ID)),
    package_id: d('ID of the package.', uuid),
    sequence: d('Number of the package among the packages of its work item, starting at 1.', whole(1)),
    supersedes: d(
      'Earlier package that this one replaces, or null.',
      nullable(
        object<NonNullable<Evidence['supersedes']>>({
          package_id: d('ID of the earlier package.', uuid),
          sequence: d('Number of the earlier package.', whole(1)),
        }),
      ),
    ),
    organization: d(
      'Organization that owns the work item.',
      object<Evidence['organization']>({ id: d('ID of the organization.', uuid), name: d('Name of the organization.', name) }),
    ),
    work_item: d('Work item that the package documents.', workItem),
    as_of: d('Point in time whose state the package describes.', time),
    generated_at: d('When the package was generated.', time),
    generator: d(
      'Software that generated the package.',
      object<Evidence['generator']>({ name: d('Name of the software.', name), version: d('Version of the software.', name) }),
    ),
    requested_by: d('Who requested the package.', person),
    note: d('Note of the requester, or null.', nullable(anyText)),
    conclusion: d(
      'Outcome of the remediation, derived from the states of the findings.',
      object<Evidence['conclusion']>({ status: d('Conclusion.', choice(CONCLUSIONS)), reasons: d('Sentences that explain the conclusion.', list(anyText)) }),
    ),
    completeness: d(
      'How complete the evidence is.',
      object<Evidence['completeness']>({
        grade: d('A: no gaps. B: only minor gaps. C: one kind of major gap. D: two or more kinds.', choice(GRADES)),
        gaps: d('What is missing.', list(gap)),
      }),
    ),
    counts: d(
      'Totals of the lists below.',
      object<Evidence['counts']>({
        findings: d('Number of findings.', whole(0)),
        by_status: d('Findings per state.', countPer(FINDING_STATES)),
        by_severity: d('Findings per severity.', countPer(SEVERITIES)),
        artifacts: d('Number of artifacts, including removed ones.', whole(0)),
        scans: d('Number of scans.', whole(0)),
      }),
    ),
    findings: d('Findings linked to the work item.', list(finding)),
    scans: d('Scans that show the state before or after the fix.', list(scan)),
    artifacts: d('Documents and links attached to the work item.', list(artifact)),
    approvals: d('Approvals and rejections of the work.', list(approval)),
    checks: d('Checks of the process, such as separation of duties.', list(check)),
    controls: d('Proposed mapping to the controls of compliance frameworks. The auditor decides what counts.', list(control)),
    collection: d('How each original file was collected.', list(collection)),
    redactions: d('Values that were removed from files before sealing.', list(redaction)),
    audit_trail: d(
      'Audit trail in the package.',
      object<Evidence['audit_trail']>({
        file: d('Path of the audit trail.', file),
        events: d('Number of events.', whole(0)),
        head: d('SHA-256 of the last line in hexadecimal, or 64 zeros if there are no events.', sha256Text),
      }),
    ),
    abandoned_leaves: d(
      'Log leaves of earlier attempts that were interrupted before a package was published.',
      list(
        object<Evidence['abandoned_leaves'][number]>({
          index: d('Index of the leaf in the log, starting at 0.', whole(0)),
          leaf_sha256: d('Leaf hash in hexadecimal.', sha256Text),
          reason: d('Why the leaf has no package.', anyText),
        }),
      ),
    ),
    formats: d('Formats that the package contains.', set(choice(PACKAGE_FORMATS))),
    files: d(
      'All files under data/ except evidence.json.',
      list(
        object<Evidence['files'][number]>({
          path: d('Path in the package.', file),
          size: d('Size in bytes.', whole(0)),
          sha256: d('SHA-256 in hexadecimal.', sha256Text),
          media_type: d('Media type.', name),
        }),
      ),
    ),
  }),
};

/** data/schemas/evidence-package-v1.schema.json. */
export const evidenceSchemaText = `${JSON.stringify(evidenceSchema, null, 2)}\n`;
