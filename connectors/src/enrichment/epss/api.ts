import { RecordError } from '@rrs/scan-reports/normalize.ts';
import { obj, str } from '@rrs/scan-reports/read.ts';
import { Type } from 'typebox';
import { ConnectorError } from '../../core/connector-error.ts';
import type { Http, Json, KnowledgeBatch, KnowledgeResult } from '../../core/contract.ts';
import { isCve, queryBatches, readRecords } from '../../core/knowledge.ts';
import { scoreOf } from './score.ts';

const Scores = Type.Object({ total: Type.Integer({ minimum: 0 }), offset: Type.Integer({ minimum: 0 }), data: Type.Array(Type.Unknown()) });

interface ApiContext {
  http: Http;
  wanted(after: string | null): Promise<readonly string[]>;
  checkpoint: Json;
  startedAt: Date;
}

export async function checkApi(http: Http): Promise<void> {
  await http.getJson('epss', Scores, { limit: 1 });
}

export async function* scoresByApi({ http, wanted, checkpoint, startedAt }: ApiContext): AsyncGenerator<KnowledgeBatch, KnowledgeResult> {
  const reached = obj(checkpoint);
  let date = str(reached.date) ?? null;
  // The API accepts up to 2,000 characters of ids and returns 100 rows by default.
  for await (const ids of queryBatches(wanted, str(reached.after) ?? null, { accepts: isCve, maxIds: 100, maxCharacters: 2_000 })) {
    const read = readRecords(
      await rowsOf(http, ids),
      (index) => `row ${index + 1} of the response for ${ids[0]} and following`,
      (row) => {
        const { cve, epss, percentile, date: scored } = obj(row);
        const day = str(scored);
        if (day === undefined || !/^\d{4}-\d{2}-\d{2}$/.test(day)) throw new RecordError('date is not a date');
        const score = scoreOf({ cve, epss, percentile }, day);
        if (!ids.includes(score.id)) throw new ConnectorError('invalid_answer', `FIRST returned ${score.id}, which was not requested.`);
        if (date === null || day > date) date = day;
        return score;
      },
    );
    yield { ...read, checkpoint: { after: ids.at(-1) ?? '', date } };
  }
  return { cursor: null, asOf: date ?? startedAt.toISOString().slice(0, 10) };
}

async function rowsOf(http: Http, ids: readonly string[]): Promise<unknown[]> {
  const rows: unknown[] = [];
  for (;;) {
    const page = await http.getJson('epss', Scores, { cve: ids.join(','), limit: ids.length, offset: rows.length });
    if (page.total > ids.length) throw new ConnectorError('invalid_answer', `FIRST returned ${page.total} scores for ${ids.length} CVEs.`);
    rows.push(...page.data);
    if (rows.length >= page.total) return rows;
    if (page.data.length === 0) throw new ConnectorError('incomplete', `FIRST announced ${page.total} scores but sent ${rows.length}.`);
  }
}
