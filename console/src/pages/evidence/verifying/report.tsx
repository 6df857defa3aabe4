import { AlertFillIcon, CheckCircleFillIcon, XCircleFillIcon } from '@primer/octicons-react';
import { CODES, type Failure, type PackageSummary, type Report, TAKEN_ON_TRUST } from '@rrs/verifier';
import { Copy } from '../../../parts/copy.tsx';
import { ConclusionMark, Gaps, GradeMark } from '../../../parts/evidence.tsx';
import { Facts, Section } from '../../../parts/page.tsx';
import { SimpleTable } from '../../../parts/simple-table.tsx';
import { count, number, term, utc } from '../../../parts/words.ts';
import type { Verified } from './protocol.ts';
import css from './report.module.css';
import { StatementSections } from './statement-sections.tsx';
import { layers, results, verdictOf } from './words.ts';

const icons = { good: CheckCircleFillIcon, warn: AlertFillIcon, bad: XCircleFillIcon };

/** What the verifier found. What a rejected package states is left out: nobody should rely on it. */
export function VerificationReport({ verified: { report, isSuperseded, statements } }: { verified: Verified }) {
  const { title, text, tone } = verdictOf(report, isSuperseded);
  const Icon = icons[tone];
  const isRejected = report.verdict === 'failed';
  return (
    <>
      <div className={css.verdict} data-tone={tone} role="status">
        <Icon size={24} aria-hidden />
        <div>
          <h2>{title}</h2>
          <p>{text}</p>
          <Owner report={report} />
        </div>
      </div>
      {report.failures.length > 0 && <Failures failures={report.failures} />}
      {report.package !== null && !isRejected && <Stated summary={report.package} />}
      <Checks report={report} />
      {report.package !== null && <Proof summary={report.package} />}
      {statements !== null && !isRejected && <StatementSections statements={statements} />}
      {report.notes.length > 0 && (
        <Section title="Notes">
          <ul className={css.list}>
            {report.notes.map((note) => (
              <li key={note}>{note}</li>
            ))}
          </ul>
        </Section>
      )}
      <details className={css.trust}>
        <summary>What no check covers ({report.taken_on_trust.length})</summary>
        <ul className={css.list}>
          {report.taken_on_trust.map((code) => (
            <li key={code}>{TAKEN_ON_TRUST[code]}</li>
          ))}
        </ul>
      </details>
    </>
  );
}

/** Organizations of one service share its keys: a verified package may still be somebody else's. */
function Owner({ report: { owner, verdict } }: { report: Report }) {
  if (owner === null) return null;
  const says = verdict === 'failed' ? 'It says that it belongs to' : 'It belongs to';
  return (
    <p>
      {says} <strong>{owner.organization.name}</strong> (organization <code>{owner.organization.id}</code>).
      {owner.expected || verdict === 'failed' ? '' : ' Check that this is the organization you expect.'}
    </p>
  );
}

function Failures({ failures }: { failures: readonly Failure[] }) {
  return (
    <Section title="Why it was rejected">
      <ul className={css.failures}>
        {failures.map(({ code, file, detail, expected, actual }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the same failure can occur several times, and the list never changes.
          <li key={`${code} ${file} ${index}`}>
            <p>
              <strong>{CODES[code].meaning}</strong> <code className="dim">{code}</code>
            </p>
            {file !== '' && (
              <p>
                File: <code>{file}</code>
              </p>
            )}
            <p>{detail}</p>
            {expected !== undefined && (
              <p className="dim">
                Expected: <code>{expected}</code>
              </p>
            )}
            {actual !== undefined && (
              <p className="dim">
                Found: <code>{actual}</code>
              </p>
            )}
          </li>
        ))}
      </ul>
    </Section>
  );
}

function Stated({ summary }: { summary: PackageSummary }) {
  return (
    <Section title="What the package states">
      <Facts
        rows={[
          ['Conclusion', <ConclusionMark key="conclusion" conclusion={summary.conclusion} />],
          ['Because', summary.reasons.join(' ')],
          ['Evidence', <GradeMark key="grade" grade={summary.grade} isLong />],
          ['Gaps', <Gaps key="gaps" gaps={summary.gaps} />],
          ['Work item', summary.work_item.title],
          ['Generated', utc(summary.generated_at)],
          ['Package', `Number ${summary.sequence} of the work item`],
          ['Replaces', summary.supersedes && `Number ${summary.supersedes.sequence} (${summary.supersedes.package_id})`],
          ['Id', <Copy key="id" text={summary.id} shown={summary.id} />],
        ]}
      />
    </Section>
  );
}

function Checks({ report }: { report: Report }) {
  return (
    <Section title="Checks">
      <SimpleTable
        label="Checks"
        rows={report.layers}
        keyOf={({ name }) => name}
        columns={[
          { label: 'Check', cell: ({ name }) => <span className="nowrap">{layers[name].title}</span> },
          { label: 'Result', cell: ({ result }) => <Result result={result} /> },
          { label: 'A pass means', cell: ({ name }) => layers[name].means },
          { label: 'Found', cell: ({ detail }) => <span className="dim">{sentence(detail)}</span> },
        ]}
      />
    </Section>
  );
}

function Result({ result }: { result: Report['layers'][number]['result'] }) {
  const { word, tone } = results[result];
  return (
    <span className={css.result} data-tone={tone}>
      {word}
    </span>
  );
}

const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;

function Proof({ summary: { keys, log, timestamps, witnesses, files, bytes } }: { summary: PackageSummary }) {
  return (
    <Section title="Proof">
      <Facts
        rows={[
          ['Signed with', keys.package && <Fingerprint text={keys.package} />],
          ['Log', log && <code>{log.origin}</code>],
          ['Log entry', log && `Index ${number(log.index)} of ${count(log.size, 'entry', 'entries')}${log.epoch > 1 ? `, epoch ${log.epoch}` : ''}`],
          ['Root of the log', log && <Fingerprint text={log.root} />],
          ['Log key', keys.log && <Fingerprint text={keys.log} />],
          ['Checkpoint key', keys.note && <Fingerprint text={keys.note} />],
          [
            'Timestamps',
            timestamps.map(({ time, authority, trusted }) => `${utc(time)} by ${authority}${trusted ? '' : ', which you do not trust'}`).join('; '),
          ],
          ['Witnesses', witnesses.map(({ name, time, trusted }) => `${name}, ${utc(time)}${trusted ? '' : ', which you do not trust'}`).join('; ')],
          ['Size', `${count(files, 'file')}, ${number(bytes)} bytes`],
        ]}
      />
    </Section>
  );
}

function Fingerprint({ text }: { text: string }) {
  return <Copy text={text} shown={text} label={term('copy')} />;
}
