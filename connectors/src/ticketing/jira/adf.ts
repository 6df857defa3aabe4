import { arr, obj } from '@rrs/scan-reports/read.ts';
import type { Json } from '../../core/contract.ts';
import { isFooter, workItemLine } from '../../core/tickets/text.ts';

/** Atlassian Document Format: https://developer.atlassian.com/cloud/jira/platform/apis/document/structure/ */

export function document(paragraphs: readonly string[], last: readonly Json[] = []): Json {
  return { type: 'doc', version: 1, content: [...paragraphs.map(paragraph), ...last] };
}

export function footer(url: string): Json {
  const label = workItemLine('');
  return {
    type: 'paragraph',
    content: [
      { type: 'text', text: label },
      { type: 'text', text: url, marks: [{ type: 'link', attrs: { href: url } }] },
    ],
  };
}

/** The paragraph with the link to the work item, unless somebody removed it. */
export function footerIn(before: unknown): Json[] {
  return arr(obj(before).content).filter((node) => arr(obj(node).content).some((child) => isFooter(String(obj(child).text)))) as Json[];
}

/** Text nodes must not be empty. */
function paragraph(text: string): Json {
  const lines = text.split('\n').map((line): Json[] => (line === '' ? [] : [{ type: 'text', text: line }]));
  return { type: 'paragraph', content: lines.flatMap((nodes, index): Json[] => (index === 0 ? nodes : [{ type: 'hardBreak' }, ...nodes])) };
}
