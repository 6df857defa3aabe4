import { ASSURANCES, CAUSES, type Finding, type Occurrence } from '../document/finding.ts';
import { PROVENANCES } from '../document/scan.ts';
import { FINDING_STATES, SEVERITIES, STANDINGS } from '../document/states.ts';
import { anyText, between, choice, date, field, flag, list, name, nullable, type Of, object, time, uuid, whole } from '../json/typed-schema.ts';
import { person } from './parts.ts';

const occurrence = object<Occurrence>({
  place: field('Path, URL, resource, port or package.', anyText),
  component_version: field('Version of the component there, or null.', nullable(anyText)),
  state: field('Whether the source still sees the finding there.', choice(['present', 'absent', 'unknown'])),
  source: field('Source.', anyText),
  track: field('Branch, environment or release line of the asset.', anyText),
  first_seen: field('When the source first saw the finding there.', time),
  last_seen: field('When the source last saw the finding there.', time),
});

const FINDING_SCHEMA_ID = 'https://rrs.example/schemas/evidence-finding/v2';

/** One line of data/findings.jsonl. */
export const findingSchema: Of<Finding> = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  $id: FINDING_SCHEMA_ID,
  title: 'Finding of an evidence package',
  description: 'One line of data/findings.jsonl, version 2. Times are RFC 3339 in UTC with milliseconds.',
  ...object<Finding>({
    id: field('ID of the finding.', uuid),
    title: field('Title.', name),
    weakness: field('Vulnerability or rule that was found, for example a CVE ID.', anyText),
    cves: field('CVE IDs.', list(anyText)),
    cwes: field('CWE numbers.', list(whole(1))),
    severity: field('Severity at `as_of`.', choice(SEVERITIES)),
    severity_source: field('Highest severity that any source stated while the finding was open.', choice(SEVERITIES)),
    override: field(
      'Severity that a person set, or null.',
      nullable(
        object<NonNullable<Finding['override']>>({
          severity: field('Severity.', choice(SEVERITIES)),
          by: field('Who set it.', person),
          at: field('When it was set.', time),
          reason: field('Reason, or null.', nullable(anyText)),
        }),
      ),
    ),
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
    kev_since: field('When the CVE was added to the catalog, or null.', nullable(time)),
    risk_score: field('Risk score of the service, 0 to 100.', between(0, 100)),
    asset: field(
      'Affected asset.',
      object<Finding['asset']>({ id: field('ID of the asset.', uuid), type: field('Type of asset.', name), name: field('Name of the asset.', name) }),
    ),
    component: field('Affected component, or null.', nullable(anyText)),
    component_version: field('Installed version of the component, or null.', nullable(anyText)),
    fixed_version: field('Version that fixes the weakness, as reported, or null.', nullable(anyText)),
    fix_published_date: field('Earliest day on which a fix was published, as reported (YYYY-MM-DD), or null.', nullable(date)),
    purl: field('Package URL of the component, or null.', nullable(anyText)),
    place: field('Location inside the asset, such as a path or a port, or null.', nullable(anyText)),
    first_seen: field('Earliest scan or receipt that shows the finding.', time),
    last_seen: field('When a source last reported the finding.', time),
    clock_started_at: field('When the deadline started to run. Later than `first_seen` after a reopening.', time),
    due_at: field('Deadline by the policies in force while the finding was open, or null.', nullable(time)),
    closed_at: field('When the finding was closed. Null if it is open.', nullable(time)),
    within_sla: field('Whether the finding was closed by its deadline or, if open, is not overdue at `as_of`. Null without a deadline.', nullable(flag)),
    state: field('State at `as_of`.', choice(FINDING_STATES)),
    state_reason: field('Reason for the state, or null.', nullable(anyText)),
    state_changed_at: field('When the state last changed.', time),
    cause: field('What put the finding into its state.', choice(CAUSES)),
    decided_by: field('Who decided on the state. Null if nobody did.', nullable(person)),
    claimed_at: field('When the finding was claimed as fixed, or null.', nullable(time)),
    claimed_by: field('Who claimed it, or null.', nullable(person)),
    assurance: field('How the remediation was established, or null.', nullable(choice(ASSURANCES))),
    justification: field('Justification of an exception, or null.', nullable(anyText)),
    acceptance: field(
      'Risk acceptance, or null.',
      nullable(
        object<NonNullable<Finding['acceptance']>>({
          owner: field('Risk owner.', anyText),
          expires_at: field('When the acceptance expires. Null if it has no end.', nullable(time)),
          compensating_control: field('What lowers the risk while it is accepted, as stated. Null if none was named.', nullable(anyText)),
          requested_by: field('Who asked for the acceptance, or null.', nullable(person)),
          approved_by: field('Who approved it, or null.', nullable(person)),
        }),
      ),
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
        others: field('IDs of the scans by which the other sources and tracks of the finding no longer showed it.', list(uuid)),
        doubts: field('Codes of what these scans do not state.', list(anyText)),
      }),
    ),
    contradicted_by: field('ID of a scan since the claim that shows the finding, or null. Discarded and failed scans count.', nullable(uuid)),
    suppressed: field('Whether all sources that still show the finding were told to ignore it.', flag),
    version_rescanned: field('Whether the versions in use were scanned again. Null if the asset has no versions.', nullable(flag)),
    work_items: field(
      'Every work item that the finding was ever in, oldest first.',
      list(
        object<Finding['work_items'][number]>({
          id: field('ID of the work item.', uuid),
          linked_at: field('When the finding was added.', time),
          unlinked_at: field('When it was removed, or null.', nullable(time)),
        }),
      ),
    ),
    merged: field(
      'Findings that a person merged into this one.',
      list(
        object<Finding['merged'][number]>({
          id: field('ID of the merged finding.', uuid),
          state: field('State that it had.', choice(FINDING_STATES)),
          title: field('Title that it had.', name),
          severity: field('Severity that it had, or the one that its sources stated if that is higher.', choice(SEVERITIES)),
        }),
      ),
    ),
    provenance: field('How independent the scan after the fix is of the people who did the work, or null.', nullable(choice(PROVENANCES))),
    standing: field('What the finding contributes to the conclusion.', choice(STANDINGS)),
  }),
};
