import { Button, NativeSelect, Textarea, TextInput } from '@mantine/core';
import type { BulkResult, FindingStatus, FindingTransition, Justification, ListedFinding, Severity } from '@rrs/client';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { useApi } from '../../../api/client.ts';
import { useMe } from '../../../api/session.ts';
import { Dialog, field } from '../../../parts/dialog.tsx';
import { WordsInput } from '../../../parts/inputs/words-input.tsx';
import { severities } from '../../../parts/severity.tsx';
import { count, number, term } from '../../../parts/words.ts';
import { changeMany, changeOne } from './apply.ts';
import { StatusChoice } from './status-choice.tsx';
import css from './triage-dialog.module.css';
import { bulkStatuses, type Change, sizeOf, type Target, type Verb } from './verbs.ts';
import { WorkItemDialog } from './work-item-dialog.tsx';

const justifications: readonly Justification[] = [
  'inaccurate_finding',
  'code_not_present',
  'code_not_reachable',
  'requires_configuration',
  'requires_dependency',
  'requires_environment',
  'protected_by_compiler',
  'protected_at_runtime',
  'protected_at_perimeter',
  'protected_by_mitigating_control',
];

interface TriageDialogProps {
  verb: Verb;
  target: Target;
  transitions?: readonly FindingTransition[] | undefined;
  onClose: () => void;
}

export function TriageDialog(props: TriageDialogProps) {
  return props.verb.asks === 'work-item' ? <WorkItemDialog target={props.target} onClose={props.onClose} /> : <ChangeDialog {...props} />;
}

/** Asks what a change needs. For more than one finding, shows what would happen before it happens. */
function ChangeDialog({ verb, target, transitions, onClose }: TriageDialogProps) {
  const [planned, setPlanned] = useState<{ change: Change; result: BulkResult } | null>(null);
  const one = 'findings' in target && target.findings.length === 1 ? target.findings[0] : undefined;
  const [tags, setTags] = useState<{ add: string[]; remove: string[] }>({ add: [], remove: [] });
  const choices = transitions ?? bulkStatuses.map((to) => ({ to, needs: [], refused: null, requests_approval: false }));
  const [status, setStatus] = useState<FindingStatus>(verb.status ?? choices.find(({ refused }) => refused === null)?.to ?? 'open');
  const chosen = choices.find(({ to }) => to === status);
  const submit = useMutation({
    mutationFn: async (data: FormData) => {
      if (planned !== null) return changeMany(target, planned.change, false).then(onClose);
      const change = changeOf(verb, status, data, tags);
      if (one) return changeOne(one, withoutEmptied(change, one)).then(onClose);
      setPlanned({ change, result: await changeMany(target, change, true) });
    },
  });
  const many = one ? 'this finding' : `${sizeOf(target)} findings`;
  if (planned !== null) {
    const { counts } = planned.result;
    return (
      <Dialog
        title={`${verb.label}: ${many}`}
        onClose={onClose}
        action={`Change ${count(counts.changed, 'finding')}`}
        onSubmit={(data) => submit.mutate(data)}
        isBusy={submit.isPending}
        error={submit.error}
        isDisabled={counts.changed === 0}
        isConfirmation
      >
        <p>
          {number(counts.changed)} of {count(counts.matched, 'finding')} change. {number(counts.unchanged)} stay as they are, {number(counts.refused)} are
          refused.
        </p>
        {planned.result.refused.length > 0 && (
          <ul>
            {[...Map.groupBy(planned.result.refused, ({ detail }) => detail)].slice(0, 5).map(([detail, all]) => (
              <li key={detail}>
                {number(all.length)} × {detail}
              </li>
            ))}
          </ul>
        )}
      </Dialog>
    );
  }
  const asks = verb.asks === 'status' ? questionOf(status) : verb.asks;
  const isReasonNeeded = (asks !== undefined && asks !== 'reason') || (chosen?.needs.some((need) => need === 'reason') ?? false);
  return (
    <Dialog
      title={`${verb.label}: ${one ? one.title : many}`}
      onClose={onClose}
      action={one ? 'Change the finding' : 'Show what would change'}
      onSubmit={(data) => submit.mutate(data)}
      isBusy={submit.isPending}
      error={submit.error}
      isDisabled={verb.asks === 'status' && (chosen === undefined || chosen.refused !== null)}
    >
      {verb.asks === 'status' && <StatusChoice now={one?.status} choices={choices} value={status} onChange={setStatus} />}
      <Question asks={asks} tags={one?.tags ?? []} acceptance={one?.acceptance ?? null} onTags={setTags} isReasonNeeded={isReasonNeeded} />
      {chosen?.requests_approval && verb.asks !== 'severity' && verb.asks !== 'tags' && (
        <p className="dim">Four-eyes policy: the status stays until another person approves the change.</p>
      )}
    </Dialog>
  );
}

function questionOf(status: FindingStatus): Verb['asks'] {
  if (status === 'risk_accepted') return 'acceptance';
  return status === 'false_positive' ? 'justification' : 'reason';
}

interface QuestionProps {
  asks: Verb['asks'];
  tags: readonly string[];
  /** The current acceptance, which a new one extends. */
  acceptance: ListedFinding['acceptance'];
  onTags: (tags: { add: string[]; remove: string[] }) => void;
  isReasonNeeded: boolean;
}

function Question({ asks, tags, acceptance, onTags, isReasonNeeded }: QuestionProps) {
  const me = useMe();
  const [value, setValue] = useState<string[]>([...tags]);
  const known = useApi('listTags', { query: { limit: 200 } }, { enabled: asks === 'tags' });
  if (asks === 'tags')
    return (
      <WordsInput
        isFirst
        label="Tags"
        description="Press Enter after each tag"
        suggestions={known.data?.data.map(({ name }) => name) ?? []}
        value={value}
        onChange={(next) => {
          setValue(next);
          onTags({ add: next.filter((tag) => !tags.includes(tag)), remove: tags.filter((tag) => !next.includes(tag)) });
        }}
      />
    );
  return (
    <>
      {asks === 'justification' && (
        <NativeSelect
          data-autofocus
          name="justification"
          label="Why it does not apply"
          data={justifications.map((each) => ({ value: each, label: term(each) }))}
        />
      )}
      {asks === 'acceptance' && (
        <>
          <TextInput
            data-autofocus
            name="owner"
            label="Who is responsible for the risk"
            required
            defaultValue={acceptance?.owner ?? me.person?.name ?? me.name}
          />
          <Ends />
        </>
      )}
      {asks === 'severity' && (
        <NativeSelect
          data-autofocus
          name="severity"
          label="Severity"
          data={[...severities.map((each) => ({ value: each, label: term(each) })), { value: '', label: 'As the sources say' }]}
        />
      )}
      <Textarea name="reason" label="Reason" required={isReasonNeeded} data-autofocus={asks === 'reason' || asks === undefined || undefined} />
      {asks === 'acceptance' && (
        <Textarea
          name="compensating_control"
          label="Compensating control"
          description="What lowers the risk meanwhile, if anything does"
          defaultValue={acceptance?.compensating_control ?? ''}
          minLength={3}
          maxLength={2000}
        />
      )}
    </>
  );
}

const PRESETS = [30, 60, 90];

/** Every acceptance ends. Tab passes the buttons: the field takes the same numbers, and the reason is one key away. */
function Ends() {
  const [days, setDays] = useState('90');
  return (
    <div className={css.ends}>
      <TextInput
        type="number"
        name="days"
        label="Ends after this many days"
        value={days}
        onChange={({ target }) => setDays(target.value)}
        min={1}
        max={731}
        required
      />
      <Button.Group>
        {PRESETS.map((preset) => (
          <Button
            key={preset}
            tabIndex={-1}
            variant="default"
            aria-label={`${preset} days`}
            aria-pressed={days === String(preset)}
            onClick={() => setDays(String(preset))}
          >
            {preset}
          </Button>
        ))}
      </Button.Group>
    </div>
  );
}

/** An emptied field removes the compensating control that the finding has. */
function withoutEmptied(change: Change, { acceptance }: ListedFinding): Change {
  const isEmptied = change.status === 'risk_accepted' && change.compensating_control === undefined && acceptance?.compensating_control;
  return isEmptied ? { ...change, compensating_control: null } : change;
}

function changeOf({ asks }: Verb, status: FindingStatus, data: FormData, tags: { add: string[]; remove: string[] }): Change {
  const reason = field(data, 'reason');
  const why = reason === undefined ? {} : { reason };
  if (asks === 'severity') return { severity: (field(data, 'severity') as Severity | undefined) ?? null, ...why };
  if (asks === 'tags') return { add_tags: tags.add, remove_tags: tags.remove };
  const justification = field(data, 'justification') as Justification | undefined;
  const days = Number.parseInt(field(data, 'days') ?? '', 10);
  const owner = field(data, 'owner');
  const control = field(data, 'compensating_control');
  return {
    status,
    ...why,
    ...(justification === undefined ? {} : { justification }),
    ...(owner === undefined ? {} : { owner, expires_at: new Date(Date.now() + days * 86_400_000).toISOString() }),
    ...(control === undefined ? {} : { compensating_control: control }),
  };
}
