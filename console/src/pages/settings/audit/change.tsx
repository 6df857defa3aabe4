import { Button } from '@mantine/core';
import type { ResultOf } from '@rrs/client';
import type { Changes } from '../../../lists/query.ts';
import { Copy } from '../../../parts/copy.tsx';
import { Modal } from '../../../parts/layers/modal.tsx';
import { Facts } from '../../../parts/page.tsx';
import { SimpleTable } from '../../../parts/simple-table.tsx';
import { term, utc } from '../../../parts/words.ts';
import css from './change.module.css';

export type AuditEvent = ResultOf<'listAuditEvents'>['data'][number];

interface ChangeProps {
  event: AuditEvent;
  onClose: () => void;
  onFilter: (changes: Changes) => void;
}

/** One entry of the audit trail: field by field, before and after. */
export function Change({ event, onClose, onFilter }: ChangeProps) {
  const { actor, person, object, before, after } = event;
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])];
  const only = (changes: Changes) => () => {
    onFilter(changes);
    onClose();
  };
  return (
    <Modal opened onClose={onClose} title={event.action} size="xl">
      <Facts
        rows={[
          ['When', utc(event.occurred_at)],
          ['Who', `${person?.name ?? actor.name}${person && person.name !== actor.name ? `, with ${actor.name}` : ''} (${term(actor.type)})`],
          ['Actor', actor.id && <Copy key="actor" text={actor.id} shown={actor.id} />],
          ['Name now', object.name],
          [
            'Object',
            <span key="object">
              {term(object.type)} <Copy text={object.id} shown={object.id} />
            </span>,
          ],
          ['Address', event.address],
          ['Request', event.request_id && <Copy key="request" text={event.request_id} shown={event.request_id} />],
        ]}
      />
      {names.length > 0 && (
        <SimpleTable
          label="Changed fields"
          rows={names}
          keyOf={(name) => name}
          columns={[
            { label: 'Field', cell: (name) => <code>{name}</code> },
            { label: 'Before', cell: (name) => <span className={css.value}>{textOf(before?.[name])}</span> },
            { label: 'After', cell: (name) => <span className={css.value}>{textOf(after?.[name])}</span> },
          ]}
        />
      )}
      <div className={css.buttons}>
        <Button variant="default" onClick={only({ object_id: object.id })}>
          Everything about this object
        </Button>
        {person && (
          <Button variant="default" onClick={only({ person_id: person.id })}>
            Everything by this person
          </Button>
        )}
        {event.request_id && (
          <Button variant="default" onClick={only({ request_id: event.request_id })}>
            Everything of this request
          </Button>
        )}
      </div>
    </Modal>
  );
}

function textOf(value: unknown): string {
  if (value === undefined || value === null) return '–';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
