import { DECISION_KINDS, type Decision, type Selection } from '../document/decisions.ts';
import { CHECK_IDS, type Check, type Control, type Counts, GAP_CODES, GAP_WEIGHTS, type Gap } from '../document/evidence.ts';
import { FINDING_STATES, SEVERITIES, STANDINGS } from '../document/states.ts';
import { anyText, anything, choice, field, list, name, nullable, object, record, scalar, time, uuid, whole } from '../json/typed-schema.ts';
import { countPer } from './scope.ts';

export const gap = object<Gap>({
  code: field('Kind of gap.', choice(GAP_CODES)),
  weight: field('Weight of the gap. Major gaps lower the grade to C or D, minor ones to B. A note has no effect.', choice(GAP_WEIGHTS)),
  about: field('IDs of what is concerned, sorted. Empty if the gap concerns the whole package.', list(anyText)),
  values: field('Numbers and names that belong to the gap.', record(scalar)),
});

export const counts = object<Counts>({
  findings: field('Number of findings.', whole(0)),
  by_standing: field('Findings per contribution to the conclusion.', countPer(STANDINGS)),
  by_status: field('Findings per state.', countPer(FINDING_STATES)),
  by_severity: field('Findings per severity.', countPer(SEVERITIES)),
  unlinked: field('Number of findings that were removed from the work item.', whole(0)),
  artifacts: field('Number of artifacts, including removed ones.', whole(0)),
  scans: field('Number of scans.', whole(0)),
});

export const check = object<Check>({
  id: field('Name of the check.', choice(CHECK_IDS)),
  result: field('Result.', choice(['pass', 'fail', 'not_applicable'])),
  passed: field('How many objects have the quality.', whole(0)),
  of: field('How many objects were checked.', whole(0)),
});

export const control = object<Control>({
  framework: field('Framework and its version.', name),
  control: field('Number of the control.', name),
  title: field('Title of the control.', anyText),
  verdict: field('What the package says about the control.', choice(['supports', 'does_not_support', 'not_addressed'])),
  evidence: field('Paths in the package and keys of this file that relate to the control.', list(anyText)),
});

export const selection = object<Selection>({
  trail_seq: field('Number of the line of the audit trail that shows it.', whole(1)),
  at: field('When the findings were added.', time),
  by: field(
    'Who added them.',
    object<Selection['by']>({ person: field('The human, as an ID in `people`, or null.', nullable(anyText)), name: field('Display name.', name) }),
  ),
  linked: field('Number of findings that were added.', whole(0)),
  filter: field('Filter that selected them. Null if they were named one by one.', anything),
  reason: field('Why the service added them, or null.', nullable(anyText)),
});

export const decision = object<Decision>({
  trail_seq: field('Number of the first line of the audit trail that shows it.', whole(1)),
  kind: field('Kind of decision.', choice(DECISION_KINDS)),
  at: field('When it was made.', time),
  by: field(
    'Who made it.',
    object<Decision['by']>({ person: field('The human, as an ID in `people`, or null.', nullable(anyText)), name: field('Display name.', name) }),
  ),
  object: field('What was decided on.', object<Decision['object']>({ type: field('Type of object.', name), id: field('ID of the object.', anyText) })),
  before: field('State before, as in the audit trail.', anything),
  after: field('State after, as in the audit trail.', anything),
  reason: field('Reason, or null.', nullable(anyText)),
  findings: field(
    'Findings of the package that it concerns.',
    object<Decision['findings']>({
      count: field('Number of findings.', whole(0)),
      by_severity: field('Findings per severity.', countPer(SEVERITIES)),
      ids: field('The first 20 IDs, sorted.', list(uuid)),
    }),
  ),
  second_person: field('Who else had to agree, as an ID in `people`, or null.', nullable(anyText)),
  import_id: field('ID of the scan that it concerns, or null.', nullable(uuid)),
});
