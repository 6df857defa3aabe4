import { Button, Textarea } from '@mantine/core';
import type { Comment, ResultOf } from '@rrs/client';
import { type FormEvent, useState } from 'react';
import { useApi, useChange } from '../../api/client.ts';
import { useMay, useMe } from '../../api/session.ts';
import { Section } from '../page.tsx';
import { messageOf, Show } from '../states.tsx';
import { Time } from '../time.tsx';
import css from './comments.module.css';

/** The operations of what can be commented on. */
const operations = {
  finding: { list: 'listFindingComments', add: 'addFindingComment', withdraw: 'withdrawFindingComment', permission: 'findings:triage' },
  workItem: { list: 'listWorkItemComments', add: 'addWorkItemComment', withdraw: 'withdrawWorkItemComment', permission: 'work_items:manage' },
} as const;

/** What people say about a finding or work item, newest first. A comment stays as it is, or is withdrawn. */
export function Comments({ of, id }: { of: keyof typeof operations; id: string }) {
  const { list, add, withdraw, permission } = operations[of];
  const me = useMe();
  const may = useMay(permission);
  const [text, setText] = useState('');
  const comments = useApi(list, { path: { id }, query: { limit: 100 } });
  const adding = useChange(add, [list], () => setText(''));
  const withdrawing = useChange(withdraw, [list]);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (text.trim() !== '') adding.mutate({ path: { id }, body: { text: text.trim() } });
  };
  const mayWithdraw = ({ person }: Comment) => may && (person?.id === me.person?.id || me.role === 'owner' || me.role === 'admin');
  const error = adding.error ?? withdrawing.error;
  return (
    <Section title="Comments">
      {may && (
        <form className={css.form} onSubmit={submit}>
          <Textarea
            aria-label="Comment"
            placeholder="Write a comment"
            value={text}
            maxLength={4000}
            minRows={1}
            onChange={({ target }) => setText(target.value)}
            onKeyDown={(event) => {
              if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) submit(event);
            }}
          />
          <Button type="submit" variant="default" loading={adding.isPending} disabled={text.trim() === ''}>
            Comment
          </Button>
        </form>
      )}
      {error && (
        <p className="bad" role="alert">
          {messageOf(error)}
        </p>
      )}
      <Show query={comments} rows={2}>
        {({ data }: ResultOf<'listFindingComments'>) =>
          data.length === 0 ? (
            <p className="dim">No comments yet.</p>
          ) : (
            <ul className={css.list}>
              {data.map((comment) => (
                <li key={comment.id}>
                  <div className={css.head}>
                    <strong>{comment.person?.name ?? comment.author}</strong>
                    <span className="dim">
                      <Time at={comment.created_at} />
                    </span>
                    {comment.withdrawn_at === null && mayWithdraw(comment) && (
                      <Button
                        variant="subtle"
                        size="compact-xs"
                        aria-label={`Withdraw the comment of ${comment.person?.name ?? comment.author}`}
                        onClick={() => withdrawing.mutate({ path: { id, comment_id: comment.id } })}
                      >
                        Withdraw
                      </Button>
                    )}
                  </div>
                  {comment.text === null ? (
                    <p className="dim">Withdrawn{comment.withdrawn_by ? ` by ${comment.withdrawn_by}` : ''}.</p>
                  ) : (
                    <p className={css.text}>{comment.text}</p>
                  )}
                </li>
              ))}
            </ul>
          )
        }
      </Show>
    </Section>
  );
}
