import { NativeSelect, TextInput } from '@mantine/core';
import type { ReactNode } from 'react';
import { useMay } from '../../api/session.ts';
import { messageOf } from '../../parts/states.tsx';
import { type Provider, scheduleOptions } from './catalog.ts';
import css from './connection-form.module.css';
import { type Answer, TestAnswer } from './form/test-answer.tsx';

interface GeneralProps {
  name: string;
  onName: (name: string) => void;
  nameError: string | undefined;
  schedule: string;
  onSchedule: (schedule: string) => void;
  kind: Provider['kind'];
}

/** What all connections have. Ticketing systems are asked every five minutes, whatever the schedule. */
export function General({ name, onName, nameError, schedule, onSchedule, kind }: GeneralProps) {
  return (
    <div className={css.general}>
      <TextInput
        label="Name"
        description="How you tell this connection from others"
        required
        value={name}
        onChange={({ target }) => onName(target.value)}
        error={nameError}
      />
      {kind !== 'ticketing' && (
        <NativeSelect
          label="Schedule"
          description="When the connection runs by itself"
          value={schedule}
          onChange={({ target }) => onSchedule(target.value)}
          data={scheduleOptions(schedule)}
        />
      )}
    </div>
  );
}

interface OutcomeProps {
  answer: Answer | undefined;
  error: unknown;
  rest: readonly { path: string; detail: string }[];
  children: ReactNode;
}

/** The buttons of the form, and what came of the last one. */
export function Outcome({ answer, error, rest, children }: OutcomeProps) {
  const may = useMay('integrations:manage');
  return (
    <div className={css.outcome}>
      {error ? (
        <div role="alert" className="bad">
          <p>{messageOf(error)}</p>
          <ul>
            {rest.map(({ path, detail }) => (
              <li key={`${path} ${detail}`}>
                <code>{path}</code> {detail}
              </li>
            ))}
          </ul>
        </div>
      ) : (
        answer && <TestAnswer answer={answer} />
      )}
      {may && <div className={css.buttons}>{children}</div>}
    </div>
  );
}
