import { fromBuffer } from '@rrs/scan-reports';
import { recordText, xmlRecords } from '@rrs/scan-reports/xml-records.ts';
import { ConnectorError, type FaultKind } from '../../core/connector-error.ts';
import type { Http, HttpRequest } from '../../core/contract.ts';

/** Lists of Qualys are XML, sorted by host id, with the URL of the next page in a warning. */

interface List {
  path: string;
  /** The root element of the document. */
  root: string;
}

interface Page {
  text: string;
  /** The lowest host id that may be on the page. */
  from: number;
  next: number | null;
}

type Query = NonNullable<HttpRequest['query']>;

export async function* pagesOf(http: Http, list: List, query: Query, first: number): AsyncGenerator<Page> {
  for (let from: number | null = first; from !== null; ) {
    const text = await documentOf(http, list, { ...query, id_min: from > 0 ? from : null });
    const next = await nextOf(text, list);
    if (next !== null && next <= from) throw new ConnectorError('incomplete', `The page of hosts from ${from} on refers back to host ${next}.`);
    yield { text, from, next };
    from = next;
  }
}

/** The response may be empty if only changes are requested. Otherwise an empty response is invalid. */
export async function documentOf(http: Http, { path, root }: List, query: Query): Promise<string> {
  const mayBeEmpty = 'detection_updated_since' in query;
  const isComplete = (text: string): boolean => (mayBeEmpty && text.trim() === '') || endsWith(text, root) || endsWith(text, 'SIMPLE_RETURN');
  for (let attempt = 1; ; attempt++) {
    const { body } = await http.text({ path, query: { action: 'list', ...query }, isComplete });
    if (body.trim() === '' || endsWith(body, root)) return body;
    const refusal = await refusalOf(body);
    if ((refusal.kind !== 'rate_limited' && refusal.kind !== 'unavailable') || attempt === ATTEMPTS) throw refusal;
    await http.pause(attempt);
  }
}

/** A copyright notice may follow the root element. */
function endsWith(text: string, root: string): boolean {
  return text.slice(-4_000).includes(`</${root}>`);
}

/** 999 is an internal error, after which Qualys asks to try again. */
const KINDS: Readonly<Record<string, FaultKind>> = {
  999: 'unavailable',
  1960: 'rate_limited',
  1965: 'rate_limited',
  2000: 'credentials',
  2012: 'credentials',
};
const ATTEMPTS = 4;

/** Qualys reports errors in a separate document, sometimes with the status 200. */
async function refusalOf(text: string): Promise<ConnectorError> {
  for await (const refusal of xmlRecords(fromBuffer(text), 'SIMPLE_RETURN/RESPONSE', ['CODE', 'TEXT'])) {
    const code = recordText(refusal, 'CODE');
    const message = recordText(refusal, 'TEXT')?.slice(0, 300) ?? 'no message';
    return new ConnectorError(KINDS[code ?? ''] ?? 'configuration', `Qualys refused the request${code ? ` (code ${code})` : ''}. Response: ${message}`);
  }
  return new ConnectorError('invalid_answer', 'Qualys refused the request without a reason.');
}

async function nextOf(text: string, { root }: List): Promise<number | null> {
  if (text.trim() === '') return null;
  for await (const warning of xmlRecords(fromBuffer(text), `${root}/RESPONSE/WARNING`, ['CODE', 'TEXT', 'URL'])) {
    const url = recordText(warning, 'URL') ?? '';
    const next = URL.canParse(url) ? Number(new URL(url).searchParams.get('id_min')) : Number.NaN;
    if (Number.isInteger(next) && next > 0) return next;
    throw new ConnectorError(
      'incomplete',
      `Qualys did not send the position of the next page. Response: ${recordText(warning, 'TEXT')?.slice(0, 300) ?? 'no message'}`,
    );
  }
  return null;
}
