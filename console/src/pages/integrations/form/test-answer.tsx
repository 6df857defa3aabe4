import { CheckCircleFillIcon, XCircleIcon } from '@primer/octicons-react';
import type { ResultOf } from '@rrs/client';
import { SimpleTable } from '../../../parts/simple-table.tsx';
import { bytes, count } from '../../../parts/words.ts';
import type { Group } from './schema.ts';

export type Answer = ResultOf<'testConnection'>;

/** The part of the form that an error of the vendor concerns, if it concerns one. */
const concerned: Readonly<Partial<Record<NonNullable<Answer['error']>['kind'], Group>>> = {
  credentials: 'credentials',
  configuration: 'content',
  unavailable: 'connection',
};

export function noteOf(answer: Answer | undefined): Partial<Record<Group, string>> {
  const group = answer?.error ? concerned[answer.error.kind] : undefined;
  return group && answer?.error ? { [group]: answer.error.message } : {};
}

/** What the vendor answered to the test, with each request that was sent. */
export function TestAnswer({ answer: { ok, error, requests, seconds } }: { answer: Answer }) {
  return (
    <div role="status">
      <p>
        {ok ? <CheckCircleFillIcon className="good" aria-hidden /> : <XCircleIcon className="bad" aria-hidden />}{' '}
        {ok ? (
          `It works: ${count(requests.length, 'request')} in ${seconds.toFixed(1)} s.`
        ) : (
          <span className="bad">{error?.message ?? 'The test failed.'}</span>
        )}
      </p>
      {requests.length > 0 && (
        <details>
          <summary>Requests of the test</summary>
          <SimpleTable
            label="Requests of the test"
            rows={requests}
            keyOf={({ at, url }) => `${at} ${url}`}
            columns={[
              { label: 'Request', cell: ({ method, url }) => <code>{`${method} ${url}`}</code> },
              { label: 'Status', cell: ({ status, error: reason }) => reason ?? status },
              { label: 'Size', cell: (request) => bytes(request.bytes), align: 'end' },
            ]}
          />
        </details>
      )}
    </div>
  );
}
