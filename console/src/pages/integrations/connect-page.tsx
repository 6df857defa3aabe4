import { Button } from '@mantine/core';
import { RrsError } from '@rrs/client';
import { useNavigate, useParams } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { useChange } from '../../api/client.ts';
import { ReadOnly } from '../../parts/manage/read-only.tsx';
import { Page } from '../../parts/page.tsx';
import { SafeLink } from '../../parts/safe-link.tsx';
import { Failure, Show } from '../../parts/states.tsx';
import { announce } from '../../parts/toast.tsx';
import { kinds, type Provider, scheduleOf, useCatalog } from './catalog.ts';
import css from './connection-form.module.css';
import { General, Outcome } from './connection-form.tsx';
import { fieldsOf } from './form/schema.ts';
import { SchemaForm } from './form/schema-form.tsx';
import { noteOf } from './form/test-answer.tsx';
import { bodyOf, initialValues, unreadable, type Values } from './form/values.ts';
import { problemsOf } from './problems.ts';

export function ConnectPage() {
  const { provider: wanted = '' } = useParams({ strict: false }) as { provider?: string };
  const catalog = useCatalog();
  const provider = catalog.data?.data.find(({ id }) => id === wanted);
  return (
    <Page title={`Connect ${provider?.name ?? wanted}`} info={provider && kinds[provider.kind]}>
      <Show query={catalog} rows={8}>
        {() => (provider === undefined ? <Failure error={new Error(`There is no provider "${wanted}".`)} /> : <ConnectForm key={wanted} provider={provider} />)}
      </Show>
    </Page>
  );
}

/** The settings are tested before they are stored. What fails can be stored all the same: some vendors are not reachable yet. */
function ConnectForm({ provider }: { provider: Provider }) {
  const fields = fieldsOf(provider);
  const [values, setValues] = useState<Values>(() => initialValues(fields));
  const [name, setName] = useState(provider.name);
  const [schedule, setSchedule] = useState('1440');
  const [own, setOwn] = useState<Record<string, string>>({});
  const navigate = useNavigate();
  const test = useChange('testNewConnection', []);
  const create = useChange('createConnection', ['listConnections', 'getIntegrationHealth'], ({ id }) => {
    announce(provider.kind === 'ticketing' ? 'Connected.' : 'Connected. The first run starts within a minute.');
    void navigate({ to: '/integrations/$id', params: { id } });
  });
  const error = create.error ?? test.error;
  const { at, rest } = problemsOf(fields, error instanceof RrsError ? error : null);
  const settings = () => ({ provider: provider.id, ...bodyOf(fields, values) });
  const isReadable = (): boolean => {
    const problems = unreadable(fields, values);
    setOwn(problems);
    create.reset();
    return Object.keys(problems).length === 0;
  };
  const save = () => create.mutate({ body: { ...settings(), name, ...(provider.kind === 'ticketing' ? {} : { schedule: scheduleOf(schedule) }) } });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isReadable()) test.mutate({ body: settings() }, { onSuccess: ({ ok }) => ok && save() });
  };
  return (
    <form className={css.form} onSubmit={submit} noValidate aria-label={`Connect ${provider.name}`}>
      <ReadOnly permission="integrations:manage" to="connect it" />
      <p>{provider.description}</p>
      <p className="dim">
        Needs {provider.permissions.replace(/\.$/, '')}. <SafeLink href={provider.documentation}>Documentation of the vendor</SafeLink>
      </p>
      <General name={name} onName={setName} nameError={at['/name']} schedule={schedule} onSchedule={setSchedule} kind={provider.kind} />
      <SchemaForm
        fields={fields}
        values={values}
        onChange={(pointer, value) => setValues({ ...values, [pointer]: value })}
        errors={{ ...at, ...own }}
        notes={noteOf(test.data)}
        intros={{
          webhook: provider.inbound_url && (
            <p className="dim">
              Changes in {provider.name} arrive at once if it can reach this service. The URL to enter there is shown after you saved the connection.
            </p>
          ),
        }}
      />
      <Outcome answer={test.data} error={error} rest={rest}>
        <Button type="submit" loading={test.isPending || create.isPending}>
          Test and save
        </Button>
        <Button variant="default" loading={test.isPending} onClick={() => isReadable() && test.mutate({ body: settings() })}>
          Test
        </Button>
        {test.data?.ok === false && (
          <Button variant="default" loading={create.isPending} onClick={() => isReadable() && save()}>
            Save without a working test
          </Button>
        )}
      </Outcome>
    </form>
  );
}
