import { type Cvss, fromBuffer, type ReportItem } from '@rrs/scan-reports';
import { observation } from '@rrs/scan-reports/normalize.ts';
import { num, plain, str } from '@rrs/scan-reports/read.ts';
import { recordText, type XmlRecord, xmlRecords } from '@rrs/scan-reports/xml-records.ts';
import type { Http } from '../../core/contract.ts';
import { documentOf } from './api.ts';

/** Details of the QIDs in detections. */

interface Knowledge {
  title: string | undefined;
  meaning: string[];
  solution: string | null;
  cves: string[];
  cvss: Cvss[];
  references: string[];
  category: string[];
}

interface KnowledgeBase {
  /** Adds the details of their QIDs to findings. */
  explain(items: readonly ReportItem[]): Promise<ReportItem[]>;
}

const LIST = { path: 'api/4.0/fo/knowledge_base/vuln/', root: 'KNOWLEDGE_BASE_VULN_LIST_OUTPUT' };
/** The ids are part of the URL, whose length is limited. */
const BATCH_SIZE = 250;
const FIELDS = [
  'QID',
  'TITLE',
  'CATEGORY',
  'DIAGNOSIS',
  'CONSEQUENCE',
  'SOLUTION',
  'CVE_LIST/CVE/ID',
  'VENDOR_REFERENCE_LIST/VENDOR_REFERENCE/URL',
  'CVSS/BASE',
  'CVSS/VECTOR_STRING',
  'CVSS_V3/BASE',
  'CVSS_V3/VECTOR_STRING',
  'CVSS_V3/CVSS3_VERSION',
];

export function knowledgeBase(http: Http): KnowledgeBase {
  const known = new Map<string, Knowledge | null>();

  const load = async (qids: readonly string[]): Promise<void> => {
    const text = await documentOf(http, LIST, { details: 'All', ids: qids.join(',') });
    for (const qid of qids) known.set(qid, null);
    for await (const entry of xmlRecords(fromBuffer(text), `${LIST.root}/RESPONSE/VULN_LIST/VULN`, FIELDS)) {
      const qid = recordText(entry, 'QID');
      if (qid) known.set(qid, knowledgeOf(entry));
    }
  };

  return {
    async explain(items) {
      const qids = new Set(items.flatMap((item) => ('observation' in item ? (item.observation.rule ?? []) : [])));
      const unknown = [...qids].filter((qid) => /^\d+$/.test(qid) && !known.has(qid));
      for (let n = 0; n < unknown.length; n += BATCH_SIZE) await load(unknown.slice(n, n + BATCH_SIZE));
      return items.map((item) => ('observation' in item ? explained(item, known.get(item.observation.rule ?? '') ?? null) : item));
    },
  };
}

function explained(item: Extract<ReportItem, { observation: unknown }>, knowledge: Knowledge | null): ReportItem {
  if (knowledge === null) return item;
  const { observation: found } = item;
  return {
    observation: observation({
      ...found,
      title: knowledge.title ?? found.title,
      description: [...knowledge.meaning, found.description].filter(Boolean).join('\n\n'),
      solution: knowledge.solution,
      vulnerability_ids: [...found.vulnerability_ids, ...knowledge.cves],
      cvss: knowledge.cvss,
      references: knowledge.references,
      tags: [...knowledge.category, ...found.tags],
    }),
  };
}

function knowledgeOf(entry: XmlRecord): Knowledge {
  const text = (field: string): string | undefined => recordText(entry, field);
  const texts = (field: string): string[] => (entry.fields.get(field) ?? []).flatMap((element) => str(element.text) ?? []);
  return {
    title: text('TITLE'),
    meaning: [readable(text('DIAGNOSIS')), readable(text('CONSEQUENCE'))].flatMap((part) => part ?? []),
    solution: readable(text('SOLUTION')),
    cves: texts('CVE_LIST/CVE/ID'),
    cvss: [
      ...cvssOf(text('CVSS_V3/VECTOR_STRING'), text('CVSS_V3/BASE'), `CVSS:${text('CVSS_V3/CVSS3_VERSION') ?? '3.0'}/`),
      ...cvssOf(text('CVSS/VECTOR_STRING'), text('CVSS/BASE'), ''),
    ],
    references: texts('VENDOR_REFERENCE_LIST/VENDOR_REFERENCE/URL'),
    category: texts('CATEGORY'),
  };
}

/** Paragraphs start with <P> and have no end tag. */
function readable(html: string | undefined): string | null {
  return plain(html?.replaceAll(/<p>\s*/gi, '\n'));
}

/** Vectors may lack the version prefix. Version 2 has none by its specification. */
function cvssOf(vector: string | undefined, score: string | undefined, prefix: string): Cvss[] {
  const bare = vector?.trim().replace(/^CVSS:\d(?:\.\d)?\//i, '');
  if (!bare?.startsWith('AV:')) return [];
  const stated = prefix === '' ? '' : (/^CVSS:3\.\d\//i.exec(vector?.trim() ?? '')?.[0].toUpperCase() ?? prefix);
  const number = num(score);
  return [{ vector: `${stated}${bare}`, ...(number === undefined ? {} : { score: number }) }];
}
