import type { Evidence, Finding, Scan } from '@rrs/evidence-format';
import type { OpenedPackage, StoredFile } from '@rrs/verifier';

/** What the deep check needs of a finding. */
export type Claim = Pick<
  Finding,
  | 'id'
  | 'title'
  | 'weakness'
  | 'cves'
  | 'severity_source'
  | 'fix_published_date'
  | 'asset'
  | 'component'
  | 'purl'
  | 'place'
  | 'occurrence_count'
  | 'occurrences'
  | 'before'
  | 'after'
>;

/** What the deep check needs of a scan. */
export type ClaimedScan = Pick<Scan, 'id' | 'format' | 'filename' | 'file'>;

export interface Claims {
  findings: Claim[];
  scans: Map<string, ClaimedScan>;
}

const FINDINGS = 'data/findings.jsonl';
const MAX_LINE = 256 * 1024;

/** Reads the findings and the scans of a package. Findings are in evidence.json, or one per line in a file of their own. */
export async function readClaims({ files }: OpenedPackage): Promise<Claims> {
  const bytes = files.get('data/evidence.json')?.bytes;
  if (!bytes) throw new Error('The package has no evidence.json that can be read.');
  const evidence = JSON.parse(Buffer.from(bytes).toString('utf8')) as Pick<Evidence, 'findings' | 'scans'>;
  const lines = files.get(FINDINGS);
  return { findings: lines ? await readLines(lines) : evidence.findings, scans: new Map(evidence.scans.map((scan) => [scan.id, scan])) };
}

async function readLines(file: StoredFile): Promise<Claim[]> {
  const findings: Claim[] = [];
  let rest = '';
  const decoder = new TextDecoder();
  for await (const piece of file.reread()) {
    const lines = (rest + decoder.decode(piece, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > MAX_LINE) throw new Error(`${FINDINGS} has a line of more than ${MAX_LINE} bytes.`);
    for (const line of lines) findings.push(JSON.parse(line) as Claim);
  }
  return findings;
}
