import { useParams } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';
import { useApi } from '../../../api/client.ts';
import { Page } from '../../../parts/page.tsx';
import { Show } from '../../../parts/states.tsx';
import { useTriage } from '../triage/use-triage.ts';
import { VerbButtons } from '../triage/verb-buttons.tsx';
import { FindingDetail } from './finding-detail.tsx';

const TriageDialog = lazy(async () => ({ default: (await import('../triage/triage-dialog.tsx')).TriageDialog }));

/** One finding as a page with an address of its own. */
export function FindingPage() {
  const { id = '' } = useParams({ strict: false }) as { id?: string };
  const finding = useApi('getFinding', { path: { id } });
  const triage = useTriage(() => (finding.data ? { findings: [finding.data] } : null));
  return (
    <Page title={finding.data?.title ?? 'Finding'} actions={finding.data && <VerbButtons finding={finding.data} ask={triage.ask} />}>
      <Show query={finding} rows={8}>
        {(data) => <FindingDetail finding={data} />}
      </Show>
      <Suspense>{triage.asked && <TriageDialog {...triage.asked} onClose={triage.close} />}</Suspense>
    </Page>
  );
}
