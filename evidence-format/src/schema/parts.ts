import type { Approval, EvidenceDocument, WorkItem } from '../document/evidence.ts';
import type { Artifact, Collection, Redaction } from '../document/originals.ts';
import type { Person, PersonFacts } from '../document/people.ts';
import { anyText, choice, field, flag, list, name, nullable, type Of, object, sha256Text, text, time, uuid, whole } from '../json/typed-schema.ts';

export const file: Of<string> = { ...text(/^data\/(?:[A-Za-z0-9][A-Za-z0-9._-]{0,99}\/)*[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/), maxLength: 180 };

export const person = object<Person>({
  kind: field('What kind of actor this is.', choice(['member', 'api_key', 'connection', 'system'])),
  id: field('ID of the member, API key or connection. Null if there is none.', nullable(uuid)),
  name: field('Display name.', name),
  person: field('The human behind the credential, as an ID in `people`. Null if none is known.', nullable(anyText)),
});

export const personFacts = object<PersonFacts>({
  id: field('ID of the person, or of a credential behind which no person is known.', anyText),
  name: field('Display name.', name),
  email: field('E-mail address, or null.', nullable(anyText)),
  role: field('Role at `as_of`. Null for a former member and for a credential without a member.', nullable(anyText)),
  signs_in_with: field('How the person last signed in before `as_of`, or null.', nullable(choice(['password', 'sso', 'api_key']))),
  credential_from: field('Who added the member or last set the password for them. Null if nobody else did.', nullable(anyText)),
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
  created_by: field('Who created the work item.', person),
  closed_at: field('When the work item was closed. Null if it is open.', nullable(time)),
  follows: field('ID of the work item that this one follows, or null.', nullable(uuid)),
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
  captured: field('Whether the service fetched the content itself.', flag),
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
  state_sha256: field('SHA-256 of the state that was approved, which is in data/approvals.', sha256Text),
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

export const auditTrail = object<EvidenceDocument['audit_trail']>({
  file: field('Path of the audit trail.', file),
  events: field('Number of events.', whole(0)),
  head: field('SHA-256 of the last line in hexadecimal, or 64 zeros if there are no events.', sha256Text),
});

export const abandonedLeaves = list(
  object<EvidenceDocument['abandoned_leaves'][number]>({
    index: field('Index of the leaf in the log, starting at 0.', whole(0)),
    leaf_sha256: field('Leaf hash in hexadecimal.', sha256Text),
  }),
);
