import { anyText, between, choice, field, flag, list, name, nullable, type Of, object, sha256Text, text, time, uuid, whole } from '../json/typed-schema.ts';
import {
  type Approval,
  type Artifact,
  type Check,
  type Collection,
  type Control,
  FINDING_STATES,
  type Finding,
  GAP_CODES,
  type Gap,
  type Occurrence,
  type Person,
  type Redaction,
  type Scan,
  SEVERITIES,
  type WorkItem,
} from './evidence.ts';

export const file: Of<string> = { ...text(/^data\/(?:[A-Za-z0-9][A-Za-z0-9._-]{0,99}\/)*[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/), maxLength: 180 };

export const person = object<Person>({
  kind: field('What kind of actor this is.', choice(['member', 'api_key', 'connection', 'system'])),
  id: field('ID of the member, API key or connection. Null if there is none.', nullable(uuid)),
  name: field('Display name.', name),
});

export const workItem = object<WorkItem>({
  id: field('ID of the work item.', uuid),
  title: field('Title.', name),
  description: field('Description, or null.', nullable(anyText)),
  status: field('Status at `as_of`.', choice(['open', 'in_progress', 'blocked', 'awaiting_verification', 'verified', 'closed_with_exceptions', 'cancelled'])),
  priority: field('Priority, or null.', nullable(anyText)),
  assignee: field('Name of the assignee, or null.', nullable(anyText)),
  due_at: field('Deadline, or null.', nullable(time)),
  external_ref: field('Reference in an external ticketing system, or null.', nullable(anyText)),
  created_at: field('When the work item was created.', time),
  closed_at: field('When the work item was closed. Null if it is open.', nullable(time)),
  follows: field('ID of the work item that this one follows, or null.', nullable(uuid)),
});

export const gap = object<Gap>({
  code: field('Kind of gap.', choice(GAP_CODES)),
  weight: field('Weight of the gap. Major gaps lower the grade to C or D.', choice(['major', 'minor'])),
  what: field('One sentence for people.', name),
  about: field('IDs of the findings, artifacts or scans concerned. Empty if the gap concerns the whole package.', list(anyText)),
});

const occurrence = object<Occurrence>({
  place: field('Path, URL, resource, port or package.', anyText),
  component_version: field('Version of the component there, or null.', nullable(anyText)),
  state: field('Whether the source still sees the finding there.', choice(['present', 'absent', 'unknown'])),
  source: field('Source.', anyText),
  track: field('Branch, environment or release line of the asset.', anyText),
  first_seen: field('When the source first saw the finding there.', time),
  last_seen: field('When the source last saw the finding there.', time),
});

export const finding = object<Finding>({
  id: field('ID of the finding.', uuid),
  title: field('Title.', name),
  weakness: field('Vulnerability or rule that was found, for example a CVE ID.', anyText),
  cves: field('CVE IDs.', list(anyText)),
  cwes: field('CWE numbers.', list(whole(1))),
  severity: field('Severity.', choice(SEVERITIES)),
  cvss: field(
    'CVSS rating, or null.',
    nullable(
      object<NonNullable<Finding['cvss']>>({
        version: field('CVSS version.', anyText),
        vector: field('Vector string.', anyText),
        score: field('Score, 0 to 10.', between(0, 10)),
      }),
    ),
  ),
  epss: field(
    'EPSS rating, or null.',
    nullable(
      object<NonNullable<Finding['epss']>>({
        score: field('Probability of exploitation, 0 to 1.', between(0, 1)),
        date: field('Date of the rating, or null.', nullable(anyText)),
      }),
    ),
  ),
  kev: field('Whether a CVE of the finding is in the CISA KEV catalog.', flag),
  risk_score: field('Risk score of the service, 0 to 100.', between(0, 100)),
  asset: field(
    'Affected asset.',
    object<Finding['asset']>({ id: field('ID of the asset.', uuid), type: field('Type of asset.', name), name: field('Name of the asset.', name) }),
  ),
  component: field('Affected component, or null.', nullable(anyText)),
  component_version: field('Installed version of the component, or null.', nullable(anyText)),
  fixed_version: field('Version that fixes the weakness, as reported, or null.', nullable(anyText)),
  purl: field('Package URL of the component, or null.', nullable(anyText)),
  place: field('Location inside the asset, such as a path or a port, or null.', nullable(anyText)),
  first_seen: field('When a source first reported the finding.', time),
  last_seen: field('When a source last reported the finding.', time),
  due_at: field('Remediation deadline, or null.', nullable(time)),
  closed_at: field('When the finding was closed. Null if it is open.', nullable(time)),
  within_sla: field('Whether the finding was closed by its deadline or, if open, is not overdue at `as_of`. Null without a deadline.', nullable(flag)),
  state: field('State at `as_of`.', choice(FINDING_STATES)),
  state_reason: field('Reason for the state, or null.', nullable(anyText)),
  state_changed_at: field('When the state last changed.', time),
  state_changed_by: field('Who or what changed the state, or null.', nullable(anyText)),
  assurance: field('How the remediation was established, or null.', nullable(choice(['declared', 'artifact', 'scan_only', 'scan_after_claim', 'independent']))),
  justification: field('Justification of an exception, or null.', nullable(anyText)),
  acceptance: field(
    'Risk acceptance, or null.',
    nullable(object<NonNullable<Finding['acceptance']>>({ owner: field('Risk owner.', anyText), expires_at: field('When the acceptance expires.', time) })),
  ),
  reopen_count: field('How often the finding was reopened.', whole(0)),
  sources: field('Sources that reported the finding.', list(anyText)),
  occurrence_count: field('Number of places at which sources see or saw the finding. Each source and track counts.', whole(0)),
  occurrences: field('The first 100 of these places.', list(occurrence)),
  before: field(
    'What the scan before the fix shows.',
    object<Finding['before']>({
      state: field('Whether the scan reported the finding.', choice(['present', 'unknown'])),
      scan: field('ID of the scan in `scans`, or null.', nullable(uuid)),
    }),
  ),
  after: field(
    'What the scan after the fix shows.',
    object<Finding['after']>({
      state: field('Whether the scan still reported the finding.', choice(['absent', 'present', 'unknown'])),
      scan: field('ID of the scan in `scans`, or null.', nullable(uuid)),
    }),
  ),
});

export const scan = object<Scan>({
  id: field('ID of the scan.', uuid),
  phase: field('Whether the scan shows the state before or after the fix.', choice(['before', 'after'])),
  tool: field('Scanner.', anyText),
  format: field('Report format.', anyText),
  filename: field('Original file name of the report, or null.', nullable(anyText)),
  received_at: field('When the service received the report.', time),
  finished_at: field('When the service finished importing the report, or null.', nullable(time)),
  complete: field('Whether the scan covered its whole scope and no record was rejected.', flag),
  records: field('Number of records in the report.', whole(0)),
  sha256: field('SHA-256 of the report in hexadecimal.', sha256Text),
  size: field('Size of the report in bytes.', whole(0)),
  file: field('Path of the report in the package. Null if it is no longer stored.', nullable(file)),
});

export const artifact = object<Artifact>({
  id: field('ID of the artifact.', uuid),
  type: field('Type of artifact.', name),
  title: field('Title.', name),
  description: field('Description, or null.', nullable(anyText)),
  occurred_at: field('When the documented event happened, or null.', nullable(time)),
  added_at: field('When the artifact was added.', time),
  added_by: field('Who added the artifact.', person),
  url: field('URL of a linked artifact, or null.', nullable(anyText)),
  filename: field('Original file name, or null.', nullable(anyText)),
  media_type: field('Media type of the content, or null.', nullable(anyText)),
  size: field('Size of the content in bytes, or null.', nullable(whole(0))),
  sha256: field('SHA-256 of the content in hexadecimal, or null.', nullable(sha256Text)),
  file: field('Path of the content in the package. Null for a link that was not captured and for a removed artifact.', nullable(file)),
  superseded_by: field('ID of the artifact that replaces this one, or null.', nullable(uuid)),
  removed: field(
    'Removal of the artifact, or null.',
    nullable(
      object<NonNullable<Artifact['removed']>>({
        at: field('When the artifact was removed.', time),
        by: field('Who removed it.', person),
        reason: field('Reason for the removal.', anyText),
      }),
    ),
  ),
});

export const approval = object<Approval>({
  id: field('ID of the approval.', uuid),
  decision: field('Decision.', choice(['approved', 'rejected'])),
  by: field('Who decided.', person),
  at: field('When the decision was made.', time),
  comment: field('Comment, or null.', nullable(anyText)),
});

export const check = object<Check>({
  id: field('Name of the check.', name),
  result: field('Result.', choice(['pass', 'fail', 'not_applicable'])),
  detail: field('Explanation of the result.', anyText),
});

export const control = object<Control>({
  framework: field('Framework and its version.', name),
  control: field('Number of the control.', name),
  title: field('Title of the control.', anyText),
  evidence: field('Paths in the package and keys of this file that relate to the control.', list(anyText)),
});

export const collection = object<Collection>({
  file: field('Path of the file in the package.', file),
  sha256: field('SHA-256 of the file in hexadecimal.', sha256Text),
  size: field('Size of the file in bytes.', whole(0)),
  media_type: field('Media type of the file.', anyText),
  method: field('How the file was collected: uploaded, or fetched by a connection.', choice(['upload', 'connection'])),
  source: field('Where the file came from.', anyText),
  collected_at: field('When the file was collected.', time),
  collected_by: field('Who or what collected the file.', person),
});

export const redaction = object<Redaction>({
  file: field('Path of the redacted file.', file),
  pointer: field('JSON Pointer to the redacted value.', anyText),
  reason: field('Reason for the redaction.', anyText),
});
