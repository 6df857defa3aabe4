import { Button, Textarea } from '@mantine/core';
import type { Decision, Finding } from '@rrs/client';
import { useState } from 'react';
import { useChange } from '../../../api/client.ts';
import { expectOwnEvents } from '../../../api/live.ts';
import { useMay, useMe } from '../../../api/session.ts';
import { Dialog, field } from '../../../parts/dialog.tsx';
import { announce } from '../../../parts/toast.tsx';
import css from './finding-detail.module.css';

/** A request to accept the risk waits for somebody other than the person who made it. */
export function Requested({ finding, request }: { finding: Finding; request: Decision }) {
  const may = useMay('findings:triage');
  const me = useMe();
  const [open, setOpen] = useState<'approve' | 'reject' | null>(null);
  const changes = ['getFinding', 'listFindings', 'listFindingHistory'] as const;
  const done = (text: string) => () => {
    announce(text);
    setOpen(null);
  };
  const isOwn = me.person !== null && request.decided_by?.id === me.person.id;
  const approve = useChange('approveAcceptance', changes, done('The risk is accepted.'));
  const reject = useChange('rejectAcceptance', changes, done(isOwn ? 'The request is withdrawn.' : 'The request is rejected.'));
  const submit = (data: FormData) => {
    expectOwnEvents();
    const reason = field(data, 'reason');
    const about = { path: { id: finding.id }, header: { 'If-Match': `"${finding.version}"` } };
    if (open === 'approve') approve.mutate({ ...about, body: reason === undefined ? {} : { reason } });
    else reject.mutate({ ...about, body: { reason: reason ?? '' } });
  };
  return (
    <div className={css.requested}>
      <p>
        {request.decided_by?.name ?? 'Somebody'} asks to {finding.status === 'risk_accepted' ? 'change the acceptance of' : 'accept'} this risk.{' '}
        {isOwn ? 'Another person has to approve it.' : ''}
      </p>
      {may && (
        <div className={css.buttons}>
          {!isOwn && <Button onClick={() => setOpen('approve')}>Approve</Button>}
          <Button variant="default" onClick={() => setOpen('reject')}>
            {isOwn ? 'Withdraw the request' : 'Reject'}
          </Button>
        </div>
      )}
      {open !== null && (
        <Dialog
          title={open === 'approve' ? 'Approve the acceptance' : isOwn ? 'Withdraw the request' : 'Reject the acceptance'}
          action={open === 'approve' ? 'Approve' : isOwn ? 'Withdraw' : 'Reject'}
          onClose={() => setOpen(null)}
          onSubmit={submit}
          isBusy={approve.isPending || reject.isPending}
          error={approve.error ?? reject.error}
          isDangerous={open === 'reject'}
        >
          <Textarea data-autofocus name="reason" label="Reason" required={open === 'reject'} />
        </Dialog>
      )}
    </div>
  );
}
