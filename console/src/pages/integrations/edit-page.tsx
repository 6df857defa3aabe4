import { Button } from '@mantine/core';
import { type ResultOf, RrsError } from '@rrs/client';
import { useNavigate, useParams } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { useApi, useChange } from '../../api/client.ts';
import { ReadOnly } from '../../parts/manage/read-only.tsx';
import { Page } from '../../parts/page.tsx';
import { Failure, Loading, Show } from '../../parts/states.tsx';
import { announce } from '../../parts/toast.tsx';
import { ON_REQUEST, type Provider, scheduleOf, useCatalog } from './catalog.ts';
import css from './connection-form.module.css';
import { General, Outcome } from './connection-form.tsx';
import { fieldsOf } from './form/schema.ts';
import { SchemaForm } from './form/schema-form.tsx';
import { noteOf } from './form/test-answer.tsx';
import { changesOf, initialValues, unreadable } from './form/values.ts';
import { InboundUrl } from './inbound-url.tsx';
import { problemsOf } from './problems.ts';

export function EditPage() {
  const { id = '' } = useParams({ strict: false }) as { id?: string };
  const connection = useApi('getConnection', { path: { id } });
  const catalog = useCatalog();
  const provider = catalog.data?.data.find((each) => each.id === connection.data?.provider);
  return (
    <Page title={`Edit ${connection.data?.name ?? 'connection'}`} info={provider?.name}>
      <Show query={connection} rows={8}>
        {(data) =>
          provider ? <EditForm key={data.id} connection={data} provider={provider} /> : catalog.error ? <Failure error={catalog.error} /> : <Loading />
        }
      </Show>
    </Page>
  );
}

/** Only what changed is sent. Secrets that are left empty stay as they are. */
function EditForm({ connection, provider }: { connection: ResultOf<'getConnection'>; provider: Provider }) {
  const { id } = connection;
  // What somebody else saves while this form is open is not overwritten.
  const [version] = useState(connection.version);
  const fields = fieldsOf(provider);
  const [before] = useState(() => initialValues(fields, connection.config));
  const [values, setValues] = useState(before);
  const [name, setName] = useState(connection.name);
  const [schedule, setSchedule] = useState(connection.schedule === null ? ON_REQUEST : String(connection.schedule.every_minutes));
  const [own, setOwn] = useState<Record<string, string>>({});
  const navigate = useNavigate();
  const test = useChange('testNewConnection', []);
  const update = useChange('updateConnection', ['getConnection', 'listConnections', 'getIntegrationHealth'], () => {
    announce('The connection is changed.');
    void navigate({ to: '/integrations/$id', params: { id } });
  });
  const error = update.error ?? test.error;
  const { at, rest } = problemsOf(fields, error instanceof RrsError ? error : null);
  const isReadable = (): boolean => {
    const problems = unreadable(fields, values);
    setOwn(problems);
    update.reset();
    return Object.keys(problems).length === 0;
  };
  const changes = () => changesOf(fields, before, values);
  const save = () =>
    update.mutate({
      path: { id },
      header: { 'If-Match': `"${version}"` },
      body: { name, ...changes(), ...(provider.kind === 'ticketing' ? {} : { schedule: scheduleOf(schedule) }) },
    });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isReadable()) save();
  };
  return (
    <form className={css.form} onSubmit={submit} noValidate aria-label={`Edit ${connection.name}`}>
      <ReadOnly permission="integrations:manage" to="change it" />
      <General name={name} onName={setName} nameError={at['/name']} schedule={schedule} onSchedule={setSchedule} kind={provider.kind} />
      <SchemaForm
        fields={fields}
        values={values}
        onChange={(pointer, value) => setValues({ ...values, [pointer]: value })}
        errors={{ ...at, ...own }}
        notes={noteOf(test.data)}
        marks={connection.credentials}
        intros={{ webhook: <InboundUrl url={connection.inbound_url} provider={provider.name} /> }}
      />
      <Outcome answer={test.data} error={error} rest={rest}>
        <Button type="submit" loading={update.isPending}>
          Save
        </Button>
        <Button
          variant="default"
          loading={test.isPending}
          onClick={() => isReadable() && test.mutate({ body: { provider: provider.id, connection_id: id, ...changes() } })}
        >
          Test with these settings
        </Button>
        <Button variant="default" onClick={() => void navigate({ to: '/integrations/$id', params: { id } })}>
          Cancel
        </Button>
      </Outcome>
    </form>
  );
}
