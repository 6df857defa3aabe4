import type { ReportInput } from '@rrs/scan-reports';

const ID = /(?:CVE-\d{4}-\d{4,19}|GHSA(?:-[0-9a-z]{4}){3})(?![0-9A-Za-z-])/g;
/** Longer than any id, so that one that is split between two chunks is found. */
const OVERLAP = 64;
const MOST = 10_000;
const MOST_BYTES = 2 ** 30;

/**
 * The vulnerabilities that a file names, for a report that cannot be read to its end. Threat: whoever cuts off a report that still shows a finding leaves
 * nothing that could be compared with it. Returns what it found so far if the file cannot even be read as text.
 */
export async function namedVulnerabilities(input: ReportInput): Promise<string[]> {
  const found = new Set<string>();
  const decoder = new TextDecoder();
  let rest = '';
  let bytes = 0;
  try {
    for await (const chunk of input.open()) {
      const text = rest + decoder.decode(chunk, { stream: true });
      // An id at the very end may go on in the next chunk.
      for (const { 0: id, index } of text.matchAll(ID)) if (index + id.length < text.length) found.add(id);
      rest = text.slice(-OVERLAP);
      bytes += chunk.length;
      if (found.size >= MOST || bytes >= MOST_BYTES) break;
    }
  } catch {
    // A compressed file can be damaged, too.
  }
  for (const [id] of rest.matchAll(ID)) found.add(id);
  return [...found].slice(0, MOST).sort();
}
