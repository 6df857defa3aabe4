import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

export interface Report {
  findings: number;
  /** Reports of different fleets share no findings. */
  fleet: string;
  /** Sentences per description, about 50 bytes each. */
  sentences: number;
}

/** Writes a report like a host package scanner: many hosts, each with many vulnerable packages. */
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
const SEVERITIES = ['critical', 'high', 'high', 'medium', 'medium', 'medium', 'low', 'info'] as const;
const NAMES = ['openssl', 'curl', 'zlib', 'glibc', 'log4j-core', 'jackson-databind', 'lodash', 'openssh', 'python3', 'expat', 'libxml2', 'sqlite'] as const;

function record(n: number, { fleet, sentences }: Report) {
  const vulnerability = n % 7919;
  const name = NAMES[vulnerability % NAMES.length];
  const component = `${name}-${vulnerability % 397}`;
  return {
    title: `${component}: out-of-bounds read when parsing a crafted ${name} input (${vulnerability})`,
    severity: SEVERITIES[vulnerability % SEVERITIES.length],
    asset_type: 'host',
    asset_name: `${fleet}-${Math.floor(n / PER_HOST)}.example.com`,
    cves: [`CVE-20${10 + (vulnerability % 15)}-${10_000 + vulnerability}`],
    cwes: [[79, 125, 787, 416, 20][vulnerability % 5]],
    cvss_vector: `CVSS:3.1/AV:N/AC:${vulnerability % 3 === 0 ? 'H' : 'L'}/PR:N/UI:N/S:U/C:H/I:${vulnerability % 2 === 0 ? 'H' : 'N'}/A:N`,
    component,
    version: `${1 + (vulnerability % 9)}.${n % 13}.0`,
    fixed_version: `${2 + (vulnerability % 9)}.0.0`,
    description: `A flaw was found in ${component}. An attacker who can send it a crafted input may read memory beyond a buffer, which discloses data of the process or ends it. ${'It concerns all versions before the fixed one. '.repeat(sentences)}`,
    solution: `Update ${component} to the fixed version.`,
    references: [`https://vulnerabilities.example.com/${vulnerability}`],
  };
}
