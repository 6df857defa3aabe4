import { PREDICATE_TYPE } from '@rrs/evidence-format';
import type { ReportContext, ReportedEvidence } from '../context.ts';
import { type Labels, listLabels } from './labels.ts';
import { type Block, type Cell, line, optionalLine, type Section } from './report-model.ts';
import { artifactState, count, dateTime, dateTimeUtc, day, fileSize, gapWords, humanize, personWords, weightTone } from './words.ts';

const MAX_EVENTS = 1_000;

export function timelineSection({ timeline }: ReportContext): Section {
  const half = MAX_EVENTS / 2;
  const shown = timeline.length <= MAX_EVENTS ? timeline : [...timeline.slice(0, half), ...timeline.slice(-half)];
  const all = `All ${timeline.length.toLocaleString('en-US')} events are in data/timeline.json. This table shows the first ${half} and the last ${half}.`;
  return {
    id: 'timeline',
    heading: 'Timeline',
    blocks: table('Timeline', { When: 22, Who: 22, What: 30, Object: 26 }, 'No events are recorded.', {
      note: timeline.length > MAX_EVENTS ? all : null,
      rows: shown.map(({ at, actor, what, object }) => [[line(dateTimeUtc(at))], [line(actor)], [line(what)], [line(object, 'quiet')]]),
    }),
  };
}

export function approvalsSection({ approvals, checks, completeness }: ReportedEvidence): Section {
  const noneIndependent = completeness.gaps.some(({ code }) => code === 'approver_is_author');
  const warning: Block[] = noneIndependent
    ? [{ kind: 'text', text: 'Everyone who approved the work also took part in it. No independent person approved it.' }]
    : [];
  const results = { pass: line('Passed', 'good'), fail: line('Failed', 'bad'), not_applicable: line('Not applicable', 'quiet') };
  return {
    id: 'approvals',
    heading: 'Approvals and checks',
    blocks: [
      ...warning,
      ...table('Approvals', { Decision: 18, By: 24, When: 24, Comment: 34 }, 'Nobody approved or rejected the work.', {
        rows: approvals.map(({ decision, by, at, comment }) => [
          [decision === 'approved' ? line('Approved', 'good') : line('Rejected', 'bad')],
          [line(personWords(by))],
          [line(dateTimeUtc(at))],
          [line(comment ?? '–', comment === null ? 'quiet' : 'plain')],
        ]),
      }),
      ...table('Checks', { Check: 30, Result: 18, Detail: 52 }, null, {
        headed: true,
        rows: checks.map(({ id, result, detail }) => [[line(humanize(id))], [results[result]], [line(detail)]]),
      }),
    ],
  };
}

export function artifactsSection({ artifacts }: ReportedEvidence, labels: Labels): Section {
  return {
    id: 'artifacts',
    heading: 'Artifacts',
    blocks: table('Artifacts', { Artifact: 31, Added: 21, 'Content and SHA-256': 48 }, 'No artifacts are attached.', {
      rows: artifacts.map((artifact) => {
        const { id, title, type, description, url, filename, added_at, added_by, occurred_at, size, sha256, removed, superseded_by } = artifact;
        const state = artifactState(artifact);
        return [
          [
            line(`${labels.of(id)} ${title}`, 'strong'),
            line(humanize(type)),
            ...optionalLine(description),
            ...optionalLine(filename, 'quiet'),
            ...optionalLine(url, 'quiet'),
          ],
          [line(dateTimeUtc(added_at)), line(personWords(added_by)), ...optionalLine(occurred_at && `Occurred ${day(occurred_at)}`, 'quiet')],
          [
            line(state.label, state.tone),
            ...optionalLine(removed && `${day(removed.at)} by ${personWords(removed.by)}: ${removed.reason}`),
            ...optionalLine(superseded_by && `Superseded by ${labels.of(superseded_by) ?? superseded_by}`, 'warn'),
            ...optionalLine(size !== null && fileSize(size), 'quiet'),
            ...optionalLine(sha256, 'mono'),
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
    blocks: table('Scans', { Scan: 26, 'Received and finished (UTC)': 26, 'Report and SHA-256': 48 }, 'No scan reported on the findings of this work item.', {
      rows: scans.map(({ id, tool, format, phase, filename, received_at, finished_at, complete, records, file, sha256, size }) => [
        [
          line(`${labels.of(id)} ${tool}`, 'strong'),
          line(phase === 'before' ? 'Before the fix' : 'After the fix'),
          ...optionalLine(filename, 'quiet'),
          line(format, 'quiet'),
        ],
        [
          line(`Received ${dateTime(received_at)}`),
          ...optionalLine(finished_at && `Finished ${dateTime(finished_at)}`),
          complete ? line('Complete', 'good') : line('Incomplete', 'bad'),
          line(count(records, 'record'), 'quiet'),
        ],
        [
          file === null ? line('Report no longer stored', 'warn') : line('In this package', 'good'),
          line(fileSize(size), 'quiet'),
          line(sha256, 'mono'),
          line(id, 'mono'),
        ],
      ]),
    }),
  };
}

export function controlsSection({ controls }: ReportedEvidence): Section {
  const note = 'These are suggestions. The auditor decides which evidence counts for which control.';
  return {
    id: 'controls',
    heading: 'Suggested controls',
    blocks: table('Suggested controls', { Framework: 22, Control: 34, 'Where to look': 44 }, 'No controls are suggested.', {
      note: controls.length === 0 ? null : note,
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
      ...table('Gaps', { Gap: 26, 'What is missing': 42, 'Why it matters': 32 }, `Grade ${grade}: nothing is missing.`, {
        rows: gaps.map(({ code, weight, what, about }) => [
          [line(gapWords[code].label, 'strong'), line(humanize(weight), weightTone[weight])],
          [line(what), ...optionalLine(about.length > 0 && `Affects ${listLabels(about, labels)}`, 'quiet')],
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
        text: 'This report only presents the evidence. The evidence is the package: its files, their hashes, the signature, the transparency log and the timestamps.',
      },
      { kind: 'heading', text: 'With one command' },
      {
        kind: 'text',
        text: 'Checks every layer offline and lists every failure. T is a folder with keys that you received separately from the package.',
      },
      { kind: 'commands', lines: ['rrs-verify package.zip --key T/package.pem --log-key T/log.pem --note-key T/log-note.pem'] },
      { kind: 'heading', text: 'With standard tools, in the unpacked folder' },
      { kind: 'commands', lines: commands },
      {
        kind: 'text',
        text: 'The last command requires cosign 3 and checks only the signature. README.txt describes the other steps: unlisted files, the transparency log, the timestamp and the audit trail.',
      },
      { kind: 'heading', text: 'Fingerprints to compare' },
      {
        kind: 'facts',
        facts: [
          ['Package key', keys.package],
          ['Log key', keys.log],
          ['Checkpoint key', keys.note],
          ['Audit trail', `${count(audit_trail.events, 'event')}, head ${audit_trail.head}`],
          ['Package ID', package_id],
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

/** A table, or the sentence `empty` if there are no rows. */
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
