import { fromBuffer, type ReportEntry, type RunFacts } from '@rrs/scan-reports';
import { expect, it } from 'vitest';
import { formatLines, runRecordFormat } from './run-record.ts';

it('keeps what the vendor states about the scan of an asset, like an uploaded report', async () => {
  const scan = {
    asset: { type: 'host', name: 'web1.example.com' },
    tool_version: '10.8.1',
    started_at: new Date('2026-11-14T08:00:00Z'),
    finished_at: new Date('2026-11-14T09:00:00Z'),
    knowledge: '202611140800',
    knowledge_at: new Date('2026-11-14T07:00:00Z'),
    credentialed: true,
    checks: ['19506'],
  } as const satisfies RunFacts;
  const read: ReportEntry[] = [];
  for await (const entry of runRecordFormat.read(fromBuffer(formatLines({ items: [], covers: [scan.asset], scans: [scan] }, [])))) read.push(entry);
  expect(read).toEqual([{ run: { looked_for: ['suppressed'] } }, { run: scan }]);
});
