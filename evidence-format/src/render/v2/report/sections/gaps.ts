import type { Evidence, Gap } from '../../../../document/evidence.ts';
import type { Tone } from '../../dispositions.ts';
import { checkWords } from '../../words/checks.ts';
import { byWeight, gapWords } from '../../words/gaps.ts';
import { VERDICT_WORDS } from '../../words/labels.ts';
import { humanize } from '../../words/numbers.ts';
import { clipped } from '../../words/printable.ts';
import { first, LENGTH, MOST } from '../limits.ts';
import { type Cell, line, optionalLine, type Section, table, words } from '../model.ts';
import { listNames, type Names } from '../names.ts';

const WEIGHT_TONE: Readonly<Record<Gap['weight'], Tone>> = { major: 'bad', minor: 'warn', note: 'neutral' };

export function gapsSection({ completeness, checks, redactions, abandoned_leaves }: Evidence, names: Names): Section {
  const gaps = byWeight(completeness.gaps);
  const results = { pass: line('Passed', 'good'), fail: line('Failed', 'bad'), not_applicable: line('Not applicable', 'quiet') };
  const also: Cell[][] = [
    ...redactions.map(({ file, pointer, reason }) => [
      [line('Redacted', 'warn')],
      [line(clipped(`${file} ${pointer}`, LENGTH.text))],
      [line(clipped(reason, LENGTH.text))],
    ]),
    ...abandoned_leaves.map(({ index, leaf_sha256 }) => [
      [line('Log entry without a package', 'warn')],
      [line(`Index ${index}`), line(leaf_sha256, 'mono')],
      [line('Sealing was interrupted after the entry was made.')],
    ]),
  ];
  const others = first(also, MOST.redactions, 'data/evidence.json');
  return {
    id: 'gaps',
    heading: 'Gaps and checks',
    blocks: [
      ...table(
        'Gaps',
        { Gap: 24, 'What is missing or unusual': 44, 'Why it matters': 32 },
        {
          empty: 'There are no gaps.',
          rows: gaps.map((gap) => {
            const { label, what, why } = gapWords(gap);
            return [
              [line(label, 'strong'), line(humanize(gap.weight), WEIGHT_TONE[gap.weight])],
              [line(clipped(what, 2 * LENGTH.text)), ...optionalLine(gap.about.length > 0 && listNames(gap.about, names), 'quiet')],
              [line(why)],
            ];
          }),
        },
      ),
      ...table(
        'Checks',
        { Check: 44, Result: 14, Answer: 42 },
        {
          headed: true,
          rows: checks.map((check) => {
            const { question, answer } = checkWords(check);
            return [[line(question)], [results[check.result]], [line(answer)]];
          }),
        },
      ),
      ...table('Redactions and log entries without a package', { What: 24, Where: 44, Why: 32 }, { headed: true, rows: [...others.shown] }),
      ...others.more,
    ],
  };
}

export function controlsSection({ controls }: Evidence): Section {
  return {
    id: 'controls',
    heading: 'Conclusion for each control',
    blocks: [
      ...(controls.length === 0
        ? []
        : [
            words(
              'What this package says about each control, for this work item only. Whether a control operates effectively is for the auditor to decide. "Not addressed" means that the package contains nothing about the control.',
            ),
          ]),
      ...table(
        'Controls',
        { Control: 40, 'This package': 20, 'Evidence it rests on': 40 },
        {
          empty: 'The organization has not selected any framework.',
          rows: controls.map(({ framework, control, title, verdict, evidence }) => [
            [line(`${framework} ${control}`, 'strong'), line(title)],
            [line(VERDICT_WORDS[verdict].label, VERDICT_WORDS[verdict].tone)],
            evidence.length === 0 ? [line('None', 'quiet')] : evidence.map((each) => line(each, 'quiet')),
          ]),
        },
      ),
    ],
  };
}
