import { useApi } from '../../api/client.ts';
import { Page } from '../../parts/page.tsx';
import { Show } from '../../parts/states.tsx';
import { SeverityTiles } from './severity-tiles.tsx';

export function Overview() {
  const stats = useApi('getFindingStats', {});
  return (
    <Page title="Overview">
      <Show query={stats}>{(data) => <SeverityTiles stats={data} />}</Show>
    </Page>
  );
}
