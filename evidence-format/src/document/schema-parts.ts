import {
  anyText,
  between,
  choice,
  described as d,
  flag,
  list,
  name,
  nullable,
  type Of,
  object,
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
  type Collection,
  type Control,
  FINDING_STATES,
  type Finding,
  GAP_CODES,
  type Gap,
  type Person,
  type Redaction,
  type Scan,
  SEVERITIES,
  type WorkItem,
} from './evidence.ts';

export const file: Of<string> = { ...text(/^data\/(?:[A-Za-z0-9][A-Za-z0-9._-]{0,99}\/)*[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/), maxLength: 180 };

export const person = object<Person>({
  kind: d('What kind of actor this is.', choice(['member', 'api_key', 'connection', 'system'])),
  id: d('ID of the member, API key or connection. Null if there is none.', nullable(uuid)),
  name: d('Display name.', name),
});

export const workItem = object<WorkItem>({
  id: d('ID of the work item.', uuid),
  title: d('Title.', name),
  description: d('Description, or null.', nullable(anyText)),
  status: d('Status at `as_of`.', choice(['open', 'in_progress', 'blocked', 'awaiting_verification', 'verified', 'closed_with_exceptions', 'cancelled'])),
  priority: d('Priority, or null.', nullable(anyText)),
  assignee: d('Name of the assignee, or null.', nullable(anyText)),
  due_at: d('Deadline, or null.', nullable(time)),
  external_ref: d('Reference in an external ticketing system, or null.', nullable(anyText)),
  created_at: d('When the work item was created.', time),
  closed_at: d('When the work item was closed. Null if it is open.', nullable(time)),
  follows: d('ID of the work item that this one follows, or null.', nullable(uuid)),
});

export const gap = object<Gap>({
  code: d('Kind of gap.', choice(GAP_CODES)),
  weight: d('How much the gap lowers the grade.', choice(['major', 'minor'])),
  what: d('One sentence for people.', name),
  about: d('IDs of the findings, artifacts or scans concerned. Empty if the gap concerns the whole package.', list(anyText)),
});

export const finding = object<Finding>({
  id: d('ID of the finding.', uuid),
  title: d('Title.', name),
  weakness: d('Vulnerability or rule that was found, for example a CVE ID.', anyText),
  cves: d('CVE IDs.', list(anyText)),
  cwes: d('CWE numbers.', list(whole(1))),
  severity: d('Severity.', choice(SEVERITIES)),
  cvss: d(
    'CVSS rating, or null.',
    nullable(
      object<NonNullable<Finding['cvss']>>({
        version: d('CVSS version.', anyText),
        vector: d('Vector string.', anyText),
        score: d('Base score, 0 to 10.', between(0, 10)),
      }),
    ),
  ),
  epss: d(
    'EPSS rating, or null.',
    nullable(
      object<NonNullable<Finding['epss']>>({
        score: d('Probability of exploitation, 0 to 1.', between(0, 1)),
        date: d('Date of the rating, or null.', nullable(anyText)),
      }),
    ),
  ),
  kev: d('Whether a CVE of the finding is in the CISA KEV catalog.', flag),
  risk_score: d('Risk score of the service, 0 to 100.', between(0, 100)),
  asset: d(
    'Affected asset.',
    object<Finding['asset']>({ id: d('ID of the asset.', uuid), type: d('Type of asset.', name), name: d('Name of the asset.', name) }),
  ),
  component: d('Affected component, or null.', nullable(anyText)),
  component_version: d('Installed version of the component, or null.', nullable(anyText)),
  fixed_version: d('First version with a fix, or null.', nullable(anyText)),
  purl: d('Package URL of the component, or null.', nullable(anyText)),
  place: d('Location inside the asset, such as a path or a port, or null.', nullable(anyText)),
  first_seen: d('When a source first reported the finding.', time),
  last_seen: d('When a source last reported the finding.', time),
  due_at: d('Remediation deadline, or null.', nullable(time)),
  closed_at: d('When the finding was closed. Null if it is open.', nullable(time)),
  within_sla: d('Whether the finding was closed by its deadline or, if open, is not overdue at `as_of`. Null without a deadline.', nullable(flag)),
  state: d('State at `as_of`.', choice(FINDING_STATES)),
  state_reason: d('Reason for the state, or null.', nullable(anyText)),
  state_changed_at: d('When the state last changed.', time),
  state_changed_by: d('Who or what changed the state, or null.', nullable(anyText)),
  assurance: d('How the remediation was established, or null.', nullable(choice(['declared', 'artifact', 'scan_only', 'scan_after_claim', 'independent']))),
  justification: d('Justification of an exception, or null.', nullable(anyText)),
  acceptance: d(
    'Risk acceptance, or null.',
    nullable(object<NonNullable<Finding['acceptance']>>({ owner: d('Risk owner.', anyText), expires_at: d('When the acceptance expires.', time) })),
  ),
  reopen_count: d('How often the finding was reopened.', whole(0)),
  sources: d('Sources that reported the finding.', list(anyText)),
  before: d(
    'What the scan before the fix shows.',
    object<Finding['before']>({
      state: d('Whether the scan reported the finding.', choice(['present', 'unknown'])),
      scan: d('ID of the scan in `scans`, or null.', nullable(uuid)),
    }),
  ),
  after: d(
    'What the scan after the fix shows.',
    object<Finding['after']>({
      state: d('Whether the scan still reported the finding.', choice(['absent', 'present', 'unknown'])),
      scan: d('ID of the scan in `scans`, or null.', nullable(uuid)),
    }),
  ),
});

export const scan = object<Scan>({
  id: d('ID of the scan.', uuid),
  phase: d('Whether the scan shows the state before or after the fix.', choice(['before', 'after'])),
  tool: d('Scanner.', anyText),
  format: d('Report format.', anyText),
  filename: d('Original file name of the report, or null.', nullable(anyText)),
  received_at: d('When the service received the report.', time),
  finished_at: d('When the service finished importing the report, or null.', nullable(time)),
  complete: d('Whether the scan covered its whole scope and no record was rejected.', flag),
  records: d('Number of records in the report.', whole(0)),
  sha256: d('SHA-256 of the report in hexadecimal.', sha256Text),
  size: d('Size of the report in bytes.', whole(0)),
  file: d('Path of the report in the package. Null if it is no longer stored.', nullable(file)),
});

export const artifact = object<Artifact>({
  id: d('ID of the artifact.', uuid),
  type: d('Type of artifact.', name),
  title: d('Title.', name),
  description: d('Description, or null.', nullable(anyText)),
  occurred_at: d('When the documented event happened, or null.', nullable(time)),
  added_at: d('When the artifact was added.', time),
  added_by: d('Who added the artifact.', person),
  url: d('URL of a linked artifact, or null.', nullable(anyText)),
  filename: d('Original file name, or null.', nullable(anyText)),
  media_type: d('Media type of the content, or null.', nullable(anyText)),
  size: d('Size of the content in bytes, or null.', nullable(whole(0))),
  sha256: d('SHA-256 of the content in hexadecimal, or null.', nullable(sha256Text)),
  file: d('Path of the content in the package. Null for a link that was not captured and for a removed artifact.', nullable(file)),
  superseded_by: d('ID of the artifact that replaces this one, or null.', nullable(uuid)),
  removed: d(
    'Removal of the artifact, or null.',
    nullable(
      object<NonNullable<Artifact['removed']>>({
        at: d('When the artifact was removed.', time),
        by: d('Who removed it.', person),
        reason: d('Reason for the removal.', anyText),
      }),
    ),
  ),
});

export const approval = object<Approval>({
  id: d('ID of the approval.', uuid),
  decision: d('Decision.', choice(['approved', 'rejected'])),
  by: d('Who decided.', person),
  at: d('When the decision was made.', time),
  comment: d('Comment, or null.', nullable(anyText)),
});

export const check = object<Check>({
  id: d('Name of the check.', name),
  result: d('Result.', choice(['pass', 'fail', 'not_applicable'])),
  detail: d('Explanation of the result.', anyText),
});

export const control = object<Control>({
  framework: d('Framework and its version.', name),
  control: d('Number of the control.', name),
  title: d('Title of the control.', anyText),
  evidence: d('Paths in the package and keys of this file that relate to the control.', list(anyText)),
});

export const collection = object<Collection>({
  file: d('Path of the file in the package.', file),
  sha256: d('SHA-256 of the file in hexadecimal.', sha256Text),
  size: d('Size of the file in bytes.', whole(0)),
  media_type: d('Media type of the file.', anyText),
  method: d('How the file was collected: uploaded, or fetched by a connection.', choice(['upload', 'connection'])),
  source: d('Where the file came from.', anyText),
  collected_at: d('When the file was collected.', time),
  collected_by: d('Who or what collected the file.', person),
});

export const redaction = object<Redaction>({
  file: d('Path of the redacted file.', file),
  pointer: d('JSON Pointer to the redacted value.', anyText),
  reason: d('Reason for the redaction.', anyText),
});
