import type { ReportFormat, ReportHead } from '../../contract.ts';
import { hasKeys, headOf } from '../../detect.ts';
import { jsonDocuments } from '../../json/documents.ts';
import { exportedObservations } from '../../shared/exported.ts';
import { notThisFormat } from '../../shared/input.ts';
import { RecordError, record } from '../../shared/normalize.ts';
import { isObj } from '../../shared/read.ts';

export const rrsNdjson: ReportFormat = {
  id: 'rrs_ndjson',
  name: 'Exported findings (NDJSON)',
  description: 'NDJSON export of this service: `GET /findings/export?format=ndjson`',
  documentation: 'docs/exports.md',
  expects: 'an NDJSON export of this service, with id, status, risk_score, asset, location and sources in each line',
  assetType: 'other',
  detect: isExport,
  async *read(input) {
    if (!isExport(await headOf(input))) throw notThisFormat(rrsNdjson.expects);
    for await (const { place, value, error } of jsonDocuments(input))
      yield* record(place, () => {
        if (error || !isObj(value)) throw new RecordError(error ?? 'the record is not an object');
        return exportedObservations(value, place);
      });
  },
};

function isExport(head: ReportHead): boolean {
  return head.jsonShape !== 'array' && hasKeys(head, 'id', 'title', 'status', 'risk_score', 'asset', 'location', 'sources');
}
