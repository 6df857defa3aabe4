import { Button, Checkbox, Switch, TextInput } from '@mantine/core';
import { RrsError } from '@rrs/client';
import { type FormEvent, useState } from 'react';
import { useChange } from '../../../api/client.ts';
import { useMay } from '../../../api/session.ts';
import { WordsInput } from '../../../parts/inputs/words-input.tsx';
import { Section } from '../../../parts/page.tsx';
import { messageOf } from '../../../parts/states.tsx';
import { announce } from '../../../parts/toast.tsx';
import css from '../settings-page.module.css';
import { type Form, formOf, type NumberPart, numberFields, type OrganizationData, patchOf, rebase } from './policy.ts';

const frameworks = ['SOC 2', 'ISO/IEC 27001:2022', 'PCI DSS 4.0.1', 'NIST SP 800-53 r5', 'FedRAMP'];

export function PolicyForm({ organization }: { organization: OrganizationData }) {
  const isLocked = !useMay('organization:manage');
  const [base, setBase] = useState(organization);
  const before = formOf(base);
  const [form, setForm] = useState<Form>(before);
  const set = (change: Partial<Form>) => setForm({ ...form, ...change });
  const update = useChange('updateOrganization', ['getOrganization', 'getMe'], () => announce('The organization is changed.'));
  const patch = patchOf(before, form);
  const isChanged = Object.keys(patch).length > 0;
  const isOutdated = organization.version !== base.version;
  const adopt = (next: Form) => {
    setBase(organization);
    setForm(next);
    update.reset();
  };
  if (isOutdated && (!isChanged || update.isSuccess)) adopt(formOf(organization));
  const errors = update.error instanceof RrsError ? update.error.errors : [];
  const errorAt = (path: string) => errors.find((error) => error.path === path)?.detail;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    update.mutate({ header: { 'If-Match': `"${base.version}"` }, body: patch });
  };
  const numbers = (part: NumberPart) => (
    <Section title={numberFields[part].title}>
      <p className="dim">{numberFields[part].about}</p>
      <div className={css.columns}>
        {Object.entries(numberFields[part].fields).map(([name, label]) => (
          <TextInput
            key={name}
            label={label}
            value={form.numbers[`${part}.${name}`] ?? ''}
            onChange={({ target }) => set({ numbers: { ...form.numbers, [`${part}.${name}`]: target.value } })}
            error={errorAt(`/policy/${part}/${name}`)}
            disabled={isLocked}
            type="number"
            min={0}
            step="any"
          />
        ))}
      </div>
    </Section>
  );
  return (
    <form className={css.form} onSubmit={submit} noValidate aria-label="Organization">
      <TextInput label="Name" value={form.name} onChange={({ target }) => set({ name: target.value })} error={errorAt('/name')} disabled={isLocked} />
      {numbers('sla')}
      <Section title="Decisions">
        <Switch
          label="Four eyes"
          description="Accepting a risk needs the approval of a second person, and nobody approves a work item that they closed."
          checked={form.fourEyes}
          onChange={({ target }) => set({ fourEyes: target.checked })}
          disabled={isLocked}
        />
      </Section>
      {numbers('brake')}
      <Section title="Branches and environments">
        <div className={css.form}>
          <WordsInput
            label="Names that count"
            description="In addition to the well-known ones, such as main, prod and release-1.4. * stands for any text. Findings of other branches are kept apart."
            value={form.trackNames}
            onChange={(trackNames) => set({ trackNames })}
            error={errorAt('/policy/track_names')}
            disabled={isLocked}
          />
          <TextInput
            label="Days until branches in development end"
            description="Without a scan. Their findings are then no longer listed."
            value={form.trackDays}
            onChange={({ target }) => set({ trackDays: target.value })}
            error={errorAt('/policy/track_days')}
            disabled={isLocked}
            type="number"
            min={1}
          />
        </div>
      </Section>
      <Section title="Severity">
        <WordsInput
          label="Ranking of sources"
          description="Tools whose severity counts, the most trusted first. Without one, the highest severity counts."
          placeholder="trivy, tenable"
          value={form.ranking}
          onChange={(ranking) => set({ ranking })}
          error={errorAt('/policy/source_ranking')}
          disabled={isLocked}
        />
      </Section>
      <Section title="Evidence">
        <Checkbox.Group
          label="Frameworks"
          description="Their controls are named in evidence packages. None chosen: all of them."
          value={[...form.frameworks]}
          onChange={(chosen) => set({ frameworks: chosen })}
        >
          <div className={css.checks}>
            {frameworks.map((name) => (
              <Checkbox key={name} value={name} label={name} disabled={isLocked} />
            ))}
          </div>
        </Checkbox.Group>
      </Section>
      {numbers('retention')}
      {!isLocked && (
        <div className={css.save}>
          <Button type="submit" disabled={!isChanged} loading={update.isPending}>
            Save
          </Button>
          {isOutdated ? (
            <span className="bad" role="alert">
              Somebody changed the organization in the meantime.{' '}
              <Button variant="default" size="compact-xs" onClick={() => adopt(rebase(before, form, formOf(organization)))}>
                Keep my changes
              </Button>{' '}
              <Button variant="default" size="compact-xs" onClick={() => adopt(formOf(organization))}>
                Show only theirs
              </Button>
            </span>
          ) : (
            update.error && (
              <span className="bad" role="alert">
                {messageOf(update.error)}
              </span>
            )
          )}
        </div>
      )}
    </form>
  );
}
