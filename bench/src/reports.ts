import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { catalogueOf } from '../../demo/src/company/catalogue.ts';
import { randomOf } from '../../service/src/testing/truth/random.ts';

export interface Report {
  findings: number;
  /** Reports of different fleets share no findings. */
  fleet: string;
  /** Sentences per description, about 50 bytes each. */
  sentences: number;
}

/** Writes a report like a host package scanner: many hosts, each with many of the packages that the company of the demo uses. */
export async function writeReport(path: string, report: Report): Promise<void> {
  await pipeline(Readable.from(blocks(report)), createWriteStream(path));
}

const LINES = 500;

export function* blocks(report: Report): Generator<string> {
  for (let from = 0; from < report.findings; from += LINES) {
    const count = Math.min(LINES, report.findings - from);
    yield Array.from({ length: count }, (_, at) => `${JSON.stringify(record(from + at, report))}\n`).join('');
  }
}

const PER_HOST = 100;
const { system, libraries } = catalogueOf(randomOf(1), 12);
/** Every vulnerability of every package that the company of the demo installs. */
const installed = [...system, ...Object.values(libraries).flat()].flatMap((one) => one.vulnerabilities.map((vulnerability) => ({ ...one, vulnerability })));

function record(n: number, { fleet, sentences }: Report) {
  const host = Math.floor(n / PER_HOST);
  // Hosts have different packages. Those next to each other have many in common.
  const one = installed[(host * 7 + (n % PER_HOST)) % installed.length];
  if (one === undefined) throw new Error('the demo has no packages');
  const { name, version, fixed, vulnerability } = one;
  return {
    title: vulnerability.title,
    severity: vulnerability.severity,
    asset_type: 'host',
    asset_name: `${fleet}-${host}.example.com`,
    cves: [vulnerability.cve],
    cwes: [vulnerability.cwe],
    cvss_vector: vulnerability.vector,
    component: name,
    version,
    fixed_version: fixed,
    description: `A flaw was found in ${name}. ${vulnerability.title}. An attacker who can send it a crafted input may read memory beyond a buffer, which discloses data of the process or ends it. ${'It concerns all versions before the fixed one. '.repeat(sentences)}`,
    solution: `Update ${name} to ${fixed}.`,
    references: [`https://vulnerabilities.example.com/${vulnerability.cve}`],
  };
}
