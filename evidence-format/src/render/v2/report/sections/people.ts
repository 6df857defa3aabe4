import type { Approval, Evidence } from '../../../../document/evidence.ts';
import type { Person } from '../../../../document/people.ts';
import { personWords, roleWords } from '../../words/labels.ts';
import { count, humanize, second } from '../../words/numbers.ts';
import { clipped } from '../../words/printable.ts';
import { first, LENGTH, MOST } from '../limits.ts';
import { type Cell, line, optionalLine, type Section, table, words } from '../model.ts';
import type { Names } from '../names.ts';
import { changesSince } from './approved-state.ts';

const SIGN_IN = { password: 'Password', sso: 'Single sign-on', api_key: 'API key' } as const;

export function peopleSection({ people, ownerless_keys }: Evidence, names: Names): Section {
  const { shown, more } = first(people, MOST.people, 'data/evidence.json');
  return {
    id: 'people',
    heading: 'People',
    blocks: [
      words(
        `Everybody who acts in the audit trail, and the owners and admins at the time of the package. ${count(ownerless_keys, 'API key')} of the organization ${ownerless_keys === 1 ? 'has' : 'have'} no person behind ${ownerless_keys === 1 ? 'it' : 'them'}.`,
      ),
      ...table(
        'People',
        { Person: 42, Role: 18, 'Signs in with': 18, 'Credential made by': 22 },
        {
          empty: 'Nobody is named.',
          rows: shown.map(({ name, email, role, signs_in_with, credential_from }) => [
            [line(clipped(name, LENGTH.name), 'strong'), ...optionalLine(email !== null && clipped(email, LENGTH.name), 'quiet')],
            [line(role === null ? 'None' : humanize(role), role === null ? 'quiet' : 'plain')],
            [signs_in_with === null ? line('Unknown', 'quiet') : line(SIGN_IN[signs_in_with])],
            [credential_from === null ? line('Nobody else', 'quiet') : line(clipped(names.titleOf(credential_from) ?? credential_from, LENGTH.name))],
          ]),
        },
      ),
      ...more,
    ],
  };
}

export function approvalsSection(evidence: Evidence, names: Names): Section {
  const { approvals, requested_by, generated_at } = evidence;
  const since = changesSince(evidence);
  const { shown, more } = first(approvals.toReversed(), MOST.approvals, 'data/evidence.json');
  const prepared: Cell[] = [
    [line('Prepared by', 'strong')],
    person(requested_by, names),
    [line(second(generated_at))],
    [line('Requested this package', 'quiet')],
  ];
  const approved = approvals
    .filter(({ decision }) => decision === 'approved')
    .slice(-3)
    .map((approval): Cell[] => [[line('Approved by', 'strong')], person(approval.by, names), [line(second(approval.at))], since(approval)]);
  const blank = (label: string): Cell[] => [[line(label, 'strong'), line(' '), line(' ')], [line(' ')], [line(' ')], [line(' ')]];
  return {
    id: 'approvals',
    heading: 'Approvals and sign-off',
    blocks: [
      words(
        'An approval is bound to a digest of the state that the approver saw: every finding with its state, severity and exception, what was removed, the artifacts and the policy. data/approvals has these lines. If anything of it changed, the approval no longer counts.',
      ),
      ...table(
        'Approvals, newest first',
        { Decision: 14, 'By, role, sign-in': 22, 'When (UTC)': 21, 'State that was approved': 25, Comment: 18 },
        {
          headed: true,
          empty: 'Nobody approved or rejected the work.',
          rows: shown.map((approval) => [
            [line(`${names.of(approval.id)} ${approval.decision === 'approved' ? 'Approved' : 'Rejected'}`, approval.decision === 'approved' ? 'good' : 'bad')],
            person(approval.by, names),
            [line(second(approval.at))],
            [
              ...since(approval),
              ...optionalLine(tookPart(evidence, approval) && 'The approver took part in the work', 'bad'),
              line(approval.state_sha256, 'mono'),
            ],
            [line(approval.comment === null ? '–' : clipped(approval.comment, LENGTH.text), approval.comment === null ? 'quiet' : 'plain')],
          ]),
        },
      ),
      ...more,
      ...table(
        'Sign-off',
        { Act: 18, 'Name, role, sign-in': 32, 'When (UTC)': 22, 'Since then, signature': 28 },
        { headed: true, rows: [prepared, ...approved, ...(approved.length === 0 ? [blank('Approved by')] : []), blank('Reviewed by (auditor)')] },
      ),
    ],
  };
}

const person = (who: Person, names: Names): Cell => [line(clipped(personWords(who), LENGTH.name)), line(roleWords(names.person(who)), 'quiet')];

function tookPart({ completeness, approvals }: Evidence, { id }: Approval): boolean {
  return completeness.gaps.some(({ code, about }) => code === 'approver_took_part' && (about.includes(id) || (approvals.length === 1 && about.length === 0)));
}
