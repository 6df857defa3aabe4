import { PREDICATE_TYPE } from '@rrs/evidence-format';
import type { ReportContext, ReportedEvidence } from '../context.ts';
import { type Labels, some } from './labels.ts';
import { type Block, type Cell, line, maybe, type Section } from './report.ts';
import { artifactState, bytes, clock, count, day, gapWords, minute, personWords, plain, weightTone } from './words.ts';

const MOST_EVENTS = 1_000;

export function timelineSection({ timeline }: ReportContext): Section {
  const half = MOST_EVENTS / 2;
  const shown = timeline.length <= MOST_EVENTS ? timeline : [...timeline.slice(0, half), ...timeline.slice(-half)];
  const all = `All ${timeline.length.toLocaleString('en-US')} events are in data/timeline.json; the first ${half} and the last ${half} are shown.`;
  return {
    id: 'timeline',
    heading: 'Timeline',
    blocks: table('Timeline', { When: 22, Who: 22, What: 30, Object: 26 }, 'Nothing is recorded.', {
      note: timeline.length > MOST_EVENTS ? all : null,
      rows: shown.map(({ at, actor, what, object }) => [[line(minute(at))], [line(actor)], [line(what)], [line(object, 'quiet')]]),
    }),
  };
}

export function approvalsSection({ approvals, checks, completeness }: ReportedEvidence): Section {
  const alone = completeness.gaps.some(({ code }) => code === 'approver_is_author');
  const warning: Block[] = alone ? [{ kind: 'text', text: 'The only approver also did the work: no second person has looked at it.' }] : [];
  const results = { pass: line('Passed', 'good'), fail: line('Failed', 'bad'), not_applicable: line('Not applicable', 'quiet') };
  return {
    id: 'approvals',
    heading: 'Approvals and checks',
    blocks: [
      ...warning,
      ...table('Approvals', { Decision: 18, By: 24, When: 24, Comment: 34 }, 'Nobody has approved or rejected the outcome.', {
        rows: approvals.map(({ decision, by, at, comment }) => [
          [decision === 'approved' ? line('Approved', 'good') : line('Rejected', 'bad')],
          [line(personWords(by))],
          [line(minute(at))],
          [line(comment ?? '–', comment === null ? 'quiet' : 'plain')],
        ]),
      }),
      ...table('Checks', { Check: 30, Result: 18, Detail: 52 }, null, {
        headed: true,
        rows: checks.map(({ id, result, detail }) => [[line(plain(id))], [results[result]], [line(detail)]]),
      }),
    ],
  };
}

export function artifactsSection({ artifacts }: ReportedEvidence, labels: Labels): Section {
  return {
    id: 'artifacts',
    heading: 'Artifacts',
    blocks: table('Artifacts', { Artifact: 31, Added: 21, 'Content and SHA-256': 48 }, 'Nothing but scans is attached.', {
      rows: artifacts.map((artifact) => {
        const { id, title, type, description, url, filename, added_at, added_by, occurred_at, size, sha256, removed, superseded_by } = artifact;
        const state = artifactState(artifact);
        return [
          [line(`${labels.of(id)} ${title}`, 'strong'), line(plain(type)), ...maybe(description), ...maybe(filename, 'quiet'), ...maybe(url, 'quiet')],
          [line(minute(added_at)), line(personWords(added_by)), ...maybe(occurred_at && `Happened ${day(occurred_at)}`, 'quiet')],
          [
            line(state.label, state.tone),
            ...maybe(removed && `${day(removed.at)} by ${personWords(removed.by)}: ${removed.reason}`),
            ...maybe(superseded_by && `Superseded by ${labels.of(superseded_by) ?? superseded_by}`, 'warn'),
            ...maybe(size !== null && bytes(size), 'quiet'),
            ...maybe(sha256, 'mono'),
          ],
        ];
      }),
    }),
  };
}

export function scansSection({ scans }: ReportedEvidence, labels: Labels): Section {
  return {
    id: 'scans',
    heading: 'Scans',
    blocks: table('Scans', { Scan: 26, 'Received, finished (UTC)': 26, 'Report and SHA-256': 48 }, 'No scan counts for this work item.', {
      rows: scans.map(({ id, tool, format, phase, filename, received_at, finished_at, complete, records, file, sha256, size }) => [
        [
          line(`${labels.of(id)} ${tool}`, 'strong'),
          line(phase === 'before' ? 'Before the fix' : 'After the fix'),
          ...maybe(filename, 'quiet'),
          line(format, 'quiet'),
        ],
        [
          line(`Received ${clock(received_at)}`),
          ...maybe(finished_at && `Finished ${clock(finished_at)}`),
          complete ? line('Complete', 'good') : line('Not complete', 'bad'),
          line(count(records, 'record'), 'quiet'),
        ],
        [
          file === null ? line('Report no longer stored', 'warn') : line('In this package', 'good'),
          line(bytes(size), 'quiet'),
          line(sha256, 'mono'),
          line(id, 'mono'),
        ],
      ]),
    }),
  };
}

export function controlsSection({ controls }: ReportedEvidence): Section {
  const proposal = 'A proposal. The auditor decides what counts for which control; this package only says where to look.';
  return {
    id: 'controls',
    heading: 'Controls, as a proposal',
    blocks: table('Controls, as a proposal for the auditor', { Framework: 22, Control: 34, 'Where to look': 44 }, 'No control is proposed.', {
      note: controls.length === 0 ? null : proposal,
      rows: controls.map(({ framework, control, title, evidence }) => [
        [line(framework)],
        [line(control, 'strong'), line(title)],
        evidence.length === 0 ? [line('–', 'quiet')] : evidence.map((each) => line(each, 'quiet')),
      ]),
    }),
  };
}

export function gapsSection({ completeness: { gaps, grade }, redactions, abandoned_leaves }: ReportedEvidence, labels: Labels): Section {
  const also = [
    ...redactions.map(({ file, pointer, reason }) => [[line('Redacted', 'warn')], [line(`${file} ${pointer}`)], [line(reason)]]),
    ...abandoned_leaves.map(({ index, reason, leaf_sha256 }) => [
      [line('Log entry without a package', 'warn')],
      [line(`Index ${index}`), line(leaf_sha256, 'mono')],
      [line(reason)],
    ]),
  ];
  return {
    id: 'gaps',
    heading: 'Gaps',
    blocks: [
      ...table('Gaps', { Gap: 26, 'What is missing': 42, 'Why it matters': 32 }, `Grade ${grade}: nothing that this package should have is missing.`, {
        rows: gaps.map(({ code, weight, what, about }) => [
          [line(gapWords[code].label, 'strong'), line(plain(weight), weightTone[weight])],
          [line(what), ...maybe(about.length > 0 && `About ${some(about, labels)}`, 'quiet')],
          [line(gapWords[code].why)],
        ]),
      }),
      ...table('Redactions and abandoned log entries', { What: 26, Where: 42, Why: 32 }, null, { headed: true, rows: also }),
    ],
  };
}

export function verifySection({ audit_trail, package_id }: ReportedEvidence, { keys }: ReportContext): Section {
  const commands = [
    'sha256sum -c --strict --quiet tagmanifest-sha256.txt',
    'sha256sum -c --strict --quiet manifest-sha256.txt',
    `cosign verify-blob-attestation --key T/package.pem --bundle proof/package.sigstore.json --type ${PREDICATE_TYPE} --insecure-ignore-tlog tagmanifest-sha256.txt`,
  ];
  return {
    id: 'verify',
    heading: 'How to verify',
    blocks: [
      {
        kind: 'text',
        text: 'This report is a view. What counts is the package that it came in: its files, their hashes, the signature, the log and the timestamps.',
      },
      { kind: 'heading', text: 'In one command' },
      {
        kind: 'text',
        text: 'Checks every layer, without a network, and lists every fault. T is a folder with keys that you got from somewhere else than the package.',
      },
      { kind: 'commands', lines: ['rrs-verify package.zip --key T/package.pem --log-key T/log.pem --note-key T/log-note.pem'] },
      { kind: 'heading', text: 'With ordinary tools, in the unpacked folder' },
      { kind: 'commands', lines: commands },
      {
        kind: 'text',
        text: 'The last one, with cosign 3, checks the signature alone. README.txt has the other steps: files that are not listed, the log, the timestamp, the audit trail.',
      },
      { kind: 'heading', text: 'Fingerprints to compare' },
      {
        kind: 'facts',
        facts: [
          ['Package key', keys.package],
          ['Log key', keys.log],
          ['Checkpoint key', keys.note],
          ['Audit trail', `${count(audit_trail.events, 'event')}, head ${audit_trail.head}`],
          ['Package id', package_id],
        ],
      },
    ],
  };
}

interface Content {
  headed?: boolean;
  note?: string | null;
  rows: Cell[][];
}

/** A table, or the sentence that says why there is none. */
function table(caption: string, columns: Readonly<Record<string, number>>, empty: string | null, { note = null, headed = false, rows }: Content): Block[] {
  if (rows.length === 0) return empty === null ? [] : [{ kind: 'text', text: empty }];
  return [
    ...(note === null ? [] : [{ kind: 'text', text: note } as const]),
    {
      kind: 'table',
      heading: headed ? caption : null,
      caption,
      columns: Object.entries(columns).map(([heading, share]) => ({ heading, share })),
      rows: rows.map((cells) => ({ anchor: null, cells })),
    },
  ];
}
