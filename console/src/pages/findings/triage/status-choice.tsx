import type { FindingStatus, FindingTransition } from '@rrs/client';
import { Choices } from '../../../parts/objects/choices.tsx';
import { StatusMark } from '../../../parts/status.tsx';
import { term } from '../../../parts/words.ts';

interface StatusChoiceProps {
  now: FindingStatus | undefined;
  choices: readonly Pick<FindingTransition, 'to' | 'refused' | 'requests_approval'>[];
  value: FindingStatus;
  onChange: (status: FindingStatus) => void;
}

/** The statuses that are possible, and why others are not. */
export function StatusChoice({ now, choices, value, onChange }: StatusChoiceProps) {
  return (
    <Choices
      label={
        now === undefined ? (
          'New status'
        ) : (
          <>
            Now <StatusMark status={now} />
          </>
        )
      }
      choices={choices.map(({ to, refused, requests_approval }) => ({
        value: to,
        label: term(to),
        isDisabled: refused !== null,
        hint: refused ?? (requests_approval ? 'Another person has to approve it.' : null),
      }))}
      value={value}
      onChange={onChange}
    />
  );
}
