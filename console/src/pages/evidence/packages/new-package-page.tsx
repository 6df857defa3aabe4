import { Button, Checkbox, Textarea, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import type { PackageFormat } from '@rrs/evidence-format';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { call, useApi, useChange } from '../../../api/client.ts';
import { useQueryString } from '../../../lists/query.ts';
import { ConclusionMark, Gaps, GradeMark } from '../../../parts/evidence.tsx';
import { Facts, Page, Section } from '../../../parts/page.tsx';
import { SimpleTable } from '../../../parts/simple-table.tsx';
import { Empty, messageOf, Show } from '../../../parts/states.tsx';
import { StatusMark } from '../../../parts/status.tsx';
import { Time } from '../../../parts/time.tsx';
import { count } from '../../../parts/words.ts';
import { formatWords } from '../format-words.ts';
import css from './new-package-page.module.css';

/** Chooses a work item, shows what its package would state, and seals it. `?work_item_id=` comes from other pages. */
export function NewPackagePage() {
  const [{ work_item_id }] = useQueryString();
  return <Page title="Seal a package">{work_item_id === undefined ? <ChooseItem /> : <Seal key={work_item_id} workItemId={work_item_id} />}</Page>;
}

function ChooseItem() {
  const [text, setText] = useState('');
  const [wanted] = useDebouncedValue(text.trim(), 200);
  const items = useApi('listWorkItems', { query: { limit: 20, sort: '-updated_at', ...(wanted === '' ? {} : { q: wanted }) } }, { keep: true });
  return (
    <Section title="Which work item?">
      <TextInput
        aria-label="Find a work item"
        placeholder="Find a work item"
        value={text}
        onChange={({ target }) => setText(target.value)}
        className={css.search}
      />
      <Show query={items} rows={6}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty title="No work items match">A package is about the findings of one work item.</Empty>
          ) : (
            <SimpleTable
              label="Work items"
              rows={data}
              keyOf={({ id }) => id}
              columns={[
                {
                  label: 'Work item',
                  cell: ({ id, title }) => (
                    <Link to="/evidence/new" search={{ work_item_id: id }}>
                      {title}
                    </Link>
                  ),
                },
                { label: 'Status', cell: ({ status }) => <StatusMark status={status} /> },
                { label: 'Changed', cell: ({ updated_at }) => <Time at={updated_at} /> },
              ]}
            />
          )
        }
      </Show>
    </Section>
  );
}

/** `html`, `json` and `jsonl` are in every package. */
const OPTIONAL: readonly PackageFormat[] = ['pdf', 'csv', 'oscal-ar', 'oscal-poam', 'openvex', 'cyclonedx-vex', 'sarif'];

function Seal({ workItemId }: { workItemId: string }) {
  const item = useApi('getWorkItem', { path: { id: workItemId } });
  const preview = useQuery({
    queryKey: ['getWorkItemState', 'preview', workItemId],
    queryFn: ({ signal }) => call('createEvidencePackage', { body: { work_item_id: workItemId, dry_run: true }, signal }),
    staleTime: 0,
  });
  return (
    <>
      <Section
        title={item.data ? `What a package of “${item.data.title}” would state now` : 'What the package would state now'}
        actions={<Link to="/evidence/new">Choose another work item</Link>}
      >
        <Show query={preview} rows={6}>
          {({ conclusion, completeness, counts }) => (
            <Facts
              rows={[
                ['Conclusion', conclusion && <ConclusionMark key="conclusion" conclusion={conclusion} />],
                ['Evidence', completeness && <GradeMark key="grade" grade={completeness.grade} isLong />],
                ['Gaps', completeness && <Gaps key="gaps" gaps={completeness.gaps} />],
                ['Contains', counts && [count(counts.findings, 'finding'), count(counts.scans, 'scan'), count(counts.artifacts, 'artifact')].join(', ')],
              ]}
            />
          )}
        </Show>
      </Section>
      {preview.data && <SealForm workItemId={workItemId} />}
    </>
  );
}

function SealForm({ workItemId }: { workItemId: string }) {
  const [formats, setFormats] = useState<readonly PackageFormat[]>(OPTIONAL);
  const navigate = useNavigate();
  const seal = useChange('createEvidencePackage', ['listEvidencePackages', 'getEvidenceStats'], (result) => {
    if ('package_id' in result) void navigate({ to: '/evidence/$id', params: { id: result.package_id } });
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const note = String(new FormData(event.currentTarget).get('note') ?? '').trim();
    const all = formats.length === OPTIONAL.length;
    // The package page shows how it goes on. Nobody has to wait here.
    seal.mutate({
      header: { Prefer: 'wait=0' },
      body: { work_item_id: workItemId, ...(all ? {} : { formats: ['json', ...formats] }), ...(note === '' ? {} : { note }) },
    });
  };
  return (
    <Section title="Seal it">
      <form className={css.form} onSubmit={submit}>
        <fieldset className={css.formats}>
          <legend>Files, besides the report as HTML and the evidence as JSON</legend>
          {OPTIONAL.map((format) => (
            <Checkbox
              key={format}
              label={formatWords(format)}
              checked={formats.includes(format)}
              onChange={({ target }) => setFormats(target.checked ? [...formats, format] : formats.filter((other) => other !== format))}
            />
          ))}
        </fieldset>
        <Textarea name="note" label="Note" description="Shown in the package" maxLength={2000} />
        <p className="dim">A sealed package cannot be changed or deleted. It states what is open, so it can be sealed at any time.</p>
        {seal.error && (
          <p className="bad" role="alert">
            {messageOf(seal.error)}
          </p>
        )}
        <div>
          <Button type="submit" loading={seal.isPending}>
            Seal the package
          </Button>
        </div>
      </form>
    </Section>
  );
}
