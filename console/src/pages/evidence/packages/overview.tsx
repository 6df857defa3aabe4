import { Link } from '@tanstack/react-router';
import { Copy } from '../../../parts/copy.tsx';
import { ConclusionMark, Gaps, GradeMark } from '../../../parts/evidence.tsx';
import { Facts, Section } from '../../../parts/page.tsx';
import { count, number, utc } from '../../../parts/words.ts';
import type { Package } from './package.ts';

/** What the package states, and what identifies it. */
export function Overview({ found }: { found: Package }) {
  const { completeness, counts, conclusion, hashes, signature, log, timestamps, witnesses } = found;
  return (
    <>
      <Section title="What it states">
        <Facts
          rows={[
            ['Conclusion', conclusion && <ConclusionMark key="conclusion" conclusion={conclusion} />],
            ['Evidence', completeness && <GradeMark key="grade" grade={completeness.grade} isLong />],
            ['Gaps', completeness && <Gaps key="gaps" gaps={completeness.gaps} />],
            ['Contains', counts && [count(counts.findings, 'finding'), count(counts.scans, 'scan'), count(counts.artifacts, 'artifact')].join(', ')],
            ['As of', found.as_of && utc(found.as_of)],
            ['Generated', found.generated_at && `${utc(found.generated_at)} by ${found.generated_by.name}`],
            ['Note', found.note],
            [
              'Work item',
              <Link key="item" to="/work/$id" params={{ id: found.work_item_id }}>
                {found.work_item_title}
              </Link>,
            ],
            [
              'Other packages',
              <Link key="others" to="/evidence" search={{ work_item_id: found.work_item_id }}>
                All packages of this work item
              </Link>,
            ],
          ]}
        />
      </Section>
      <Section title="Proof">
        <Facts
          rows={[
            ['Package ID', <Copy key="id" text={found.package_id} shown={found.package_id} />],
            ['SHA-256 of the ZIP', hashes && <Copy key="hash" text={hashes.archive_sha256} shown={hashes.archive_sha256} />],
            ['Signed with', signature && <Copy key="key" text={signature.key_id} shown={signature.key_id} />],
            [
              'Log entry',
              log && (
                <Link key="log" to="/evidence/log" search={{ index: String(log.index) }}>
                  Index {number(log.index)} of {count(log.tree_size, 'entry', 'entries')}
                </Link>
              ),
            ],
            ['Timestamps', timestamps.map(({ file }) => file).join(', ') || 'None: no time-stamping authority confirmed the time'],
            ['Witnesses', witnesses.map(({ name, cosigned_at }) => `${name}${cosigned_at ? `, ${utc(cosigned_at)}` : ', no answer'}`).join('; ')],
          ]}
        />
      </Section>
    </>
  );
}
