import { Section } from '../../../parts/page.tsx';
import { SimpleTable } from '../../../parts/simple-table.tsx';
import { count, number, utc } from '../../../parts/words.ts';
import css from './report.module.css';
import type { Statements } from './statements.ts';

/** Controls, questions of auditors, and the register of decisions. */
export function StatementSections({ statements: { controls, checks, decisions, more } }: { statements: Statements }) {
  return (
    <>
      <Section title="Questions of auditors">
        <SimpleTable
          label="Questions of auditors"
          rows={checks}
          keyOf={({ question }) => question}
          columns={[
            { label: 'Question', cell: ({ question }) => question },
            {
              label: 'Answer',
              cell: ({ answer, result }) => (
                <span className={css.result} data-tone={result === 'pass' ? 'good' : result === 'fail' ? 'bad' : 'dim'}>
                  {answer}
                </span>
              ),
            },
          ]}
        />
      </Section>
      <Section title="Controls">
        <SimpleTable
          label="Controls"
          rows={controls}
          keyOf={({ id }) => id}
          columns={[
            { label: 'Control', cell: ({ id }) => <span className="nowrap">{id}</span> },
            { label: 'Title', cell: ({ title }) => title },
            {
              label: 'Verdict',
              cell: ({ verdict, tone }) => (
                <span className={css.result} data-tone={tone}>
                  {verdict}
                </span>
              ),
            },
            { label: 'Rests on', cell: ({ evidence }) => <span className="dim">{evidence}</span> },
          ]}
        />
      </Section>
      <Section title="Decision register">
        {decisions.length === 0 ? (
          <p className="dim">Nobody made a decision that changed the result.</p>
        ) : (
          <>
            <p className="dim">Every act of a person that made the result look better, in the order of the audit trail.</p>
            <SimpleTable
              label="Decision register"
              rows={decisions}
              keyOf={({ key }) => key}
              columns={[
                { label: 'When', cell: ({ at }) => <span className="nowrap">{utc(at)}</span> },
                { label: 'Who', cell: ({ by, second }) => (second === null ? by : `${by}, approved by ${second}`) },
                { label: 'What', cell: ({ what }) => what },
                { label: 'Change', cell: ({ change }) => <span className="dim">{change}</span> },
                { label: 'Reason', cell: ({ reason }) => reason || <span className="dim">none</span> },
                { label: 'Findings', align: 'end', cell: ({ findings }) => number(findings) },
              ]}
            />
            {more > 0 && <p className="dim">{count(more, 'more decision')} in evidence.json.</p>}
          </>
        )}
      </Section>
    </>
  );
}
