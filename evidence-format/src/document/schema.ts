import {
  anyText,
  between,
  choice,
  constant,
  flag,
  list,
  name,
  nullable,
  type Of,
  object,
  set,
  sha256Text,
  text,
  time,
  uuid,
  whole,
} from '../json/typed-schema.ts';
import {
  type Approval,
  type Artifact,
  type Check,
  CONCLUSIONS,
  type Collection,
  type Control,
  EVIDENCE_SCHEMA_ID,
  type Evidence,
  FINDING_STATES,
  type Finding,
  GAP_CODES,
  type Gap,
  GRADES,
  PACKAGE_FORMATS,
  type Person,
  type Redaction,
  type Scan,
  SEVERITIES,
  type WorkItem,
} from './evidence.ts';

const file: Of<string> = { ...text(/^data\/(?:[A-Za-z0-9][A-Za-z0-9._-]{0,99}\/)*[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/), maxLength: 180 };

const person = object<Person>({ kind: choice(['member', 'api_key', 'connection', 'system']), id: nullable(uuid), name });

const workItem = object<WorkItem>({
  id: uuid,
  title: name,
  description: nullable(anyText),
  status: choice(['open', 'in_progress', 'blocked', 'awaiting_verification', 'verified', 'closed_with_exceptions', 'cancelled']),
  priority: nullable(anyText),
  assignee: nullable(anyText),
  due_at: nullable(time),
  external_ref: nullable(anyText),
  created_at: time,
  closed_at: nullable(time),
  follows: nullable(uuid),
});

const gap = object<Gap>({ code: choice(GAP_CODES), weight: choice(['major', 'minor']), what: name, about: list(anyText) });

const finding = object<Finding>({
  id: uuid,
  title: name,
  weakness: anyText,
  cves: list(anyText),
  cwes: list(whole(1)),
  severity: choice(SEVERITIES),
  cvss: nullable(object<NonNullable<Finding['cvss']>>({ version: anyText, vector: anyText, score: between(0, 10) })),
  epss: nullable(object<NonNullable<Finding['epss']>>({ score: between(0, 1), date: nullable(anyText) })),
  kev: flag,
  risk_score: between(0, 100),
  asset: object<Finding['asset']>({ id: uuid, type: name, name }),
  component: nullable(anyText),
  component_version: nullable(anyText),
  fixed_version: nullable(anyText),
  purl: nullable(anyText),
  place: nullable(anyText),
  first_seen: time,
  last_seen: time,
  due_at: nullable(time),
  closed_at: nullable(time),
  within_sla: nullable(flag),
  state: choice(FINDING_STATES),
  state_reason: nullable(anyText),
  state_changed_at: time,
  state_changed_by: nullable(anyText),
  assurance: nullable(choice(['declared', 'artifact', 'scan_only', 'scan_after_claim', 'independent'])),
  justification: nullable(anyText),
  acceptance: nullable(object<NonNullable<Finding['acceptance']>>({ owner: anyText, expires_at: time })),
  reopen_count: whole(0),
  sources: list(anyText),
  before: object<Finding['before']>({ state: choice(['present', 'unknown']), scan: nullable(uuid) }),
  after: object<Finding['after']>({ state: choice(['absent', 'present', 'unknown']), scan: nullable(uuid) }),
});

const scan = object<Scan>({
  id: uuid,
  phase: choice(['before', 'after']),
  tool: anyText,
  format: anyText,
  filename: nullable(anyText),
  received_at: time,
  finished_at: nullable(time),
  complete: flag,
  records: whole(0),
  sha256: sha256Text,
  size: whole(0),
  file: nullable(file),
});

const artifact = object<Artifact>({
  id: uuid,
  type: name,
  title: name,
  description: nullable(anyText),
  occurred_at: nullable(time),
  added_at: time,
  added_by: person,
  url: nullable(anyText),
  filename: nullable(anyText),
  media_type: nullable(anyText),
  size: nullable(whole(0)),
  sha256: nullable(sha256Text),
  file: nullable(file),
  superseded_by: nullable(uuid),
  removed: nullable(object<NonNullable<Artifact['removed']>>({ at: time, by: person, reason: anyText })),
});

const approval = object<Approval>({ id: uuid, decision: choice(['approved', 'rejected']), by: person, at: time, comment: nullable(anyText) });
const check = object<Check>({ id: name, result: choice(['pass', 'fail', 'not_applicable']), detail: anyText });
const control = object<Control>({ framework: name, control: name, title: anyText, evidence: list(anyText) });
const collection = object<Collection>({
  file,
  sha256: sha256Text,
  size: whole(0),
  media_type: anyText,
  method: choice(['upload', 'connection']),
  source: anyText,
  collected_at: time,
  collected_by: person,
});
const redaction = object<Redaction>({ file, pointer: anyText, reason: anyText });

/** A count for each of these keys. */
function tally<K extends string>(keys: readonly K[]): Of<Record<K, number>> {
  return object<Record<K, number>>(Object.fromEntries(keys.map((key) => [key, whole(0)])) as Record<K, Of<number>>);
}

export const evidenceSchema: Of<Evidence> = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  $id: EVIDENCE_SCHEMA_ID,
  title: 'Remediation evidence',
  description: 'data/evidence.json of an evidence package. What must hold beyond this schema is in the description of the package.',
  ...object<Evidence>({
    schema: constant(EVIDENCE_SCHEMA_ID),
    package_id: uuid,
    sequence: whole(1),
    supersedes: nullable(object<NonNullable<Evidence['supersedes']>>({ package_id: uuid, sequence: whole(1) })),
    organization: object<Evidence['organization']>({ id: uuid, name }),
    work_item: workItem,
    as_of: time,
    generated_at: time,
    generator: object<Evidence['generator']>({ name, version: name }),
    requested_by: person,
    note: nullable(anyText),
    conclusion: object<Evidence['conclusion']>({ status: choice(CONCLUSIONS), reasons: list(anyText) }),
    completeness: object<Evidence['completeness']>({ grade: choice(GRADES), gaps: list(gap) }),
    counts: object<Evidence['counts']>({
      findings: whole(0),
      by_status: tally(FINDING_STATES),
      by_severity: tally(SEVERITIES),
      artifacts: whole(0),
      scans: whole(0),
    }),
    findings: list(finding),
    scans: list(scan),
    artifacts: list(artifact),
    approvals: list(approval),
    checks: list(check),
    controls: list(control),
    collection: list(collection),
    redactions: list(redaction),
    audit_trail: object<Evidence['audit_trail']>({ file, events: whole(0), head: sha256Text }),
    abandoned_leaves: list(object<Evidence['abandoned_leaves'][number]>({ index: whole(0), leaf_sha256: sha256Text, reason: anyText })),
    formats: set(choice(PACKAGE_FORMATS)),
    files: list(object<Evidence['files'][number]>({ path: file, size: whole(0), sha256: sha256Text, media_type: name })),
  }),
};

/** data/schemas/evidence-package-v1.schema.json. */
export const evidenceSchemaText = `${JSON.stringify(evidenceSchema, null, 2)}\n`;
