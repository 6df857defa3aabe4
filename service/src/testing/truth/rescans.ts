import type { ScanScope } from '../../findings/import/manage-imports.ts';
import type { Engine } from '../findings/imports.ts';

/** Scans that see less than the first one, for a reason that is not a fix. None of them may verify a finding. */

const day = (n: number): string => new Date(Date.UTC(2026, 2, n, 6)).toISOString();
const cve = (n: number): string => `CVE-2023-${10_000 + n}`;
const severities = ['CRITICAL', 'HIGH', 'MEDIUM', 'LOW'] as const;
const severityOf = (n: number) => severities[n % 4] as (typeof severities)[number];

interface Scan {
  findings: readonly number[];
  at: number;
  image?: string;
  digest?: string;
  knowledge?: number;
  hosts?: readonly string[];
  credentialed?: boolean;
  /** The enabled checks, if the report lists them. */
  enabled?: readonly number[];
}

function trivy({ findings, at, image = 'shop:prod', digest = 'a' }: Scan): string {
  return JSON.stringify({
    SchemaVersion: 2,
    CreatedAt: day(at),
    ArtifactName: image,
    ArtifactType: 'container_image',
    Metadata: { RepoDigests: [`shop@sha256:${digest.repeat(64)}`] },
    Results: [
      {
        Target: image,
        Class: 'os-pkgs',
        Type: 'debian',
        Vulnerabilities: findings.map((n) => ({
          VulnerabilityID: cve(n),
          PkgName: `lib${n}`,
          InstalledVersion: `1.${n}`,
          FixedVersion: '9',
          Severity: severityOf(n),
        })),
      },
    ],
  });
}

function grype({ findings, at, image = 'shop:prod', knowledge = at }: Scan): string {
  return JSON.stringify({
    matches: findings.map((n) => ({
      vulnerability: { id: cve(n), severity: severityOf(n), fix: { versions: ['9'], state: 'fixed' } },
      artifact: { name: `lib${n}`, version: `1.${n}`, type: 'deb', purl: `pkg:deb/debian/lib${n}@1.${n}` },
    })),
    source: { type: 'image', target: { userInput: image, manifestDigest: `sha256:${String(at % 10).repeat(64)}` } },
    descriptor: { name: 'grype', version: '0.90.0', timestamp: day(at), db: { built: day(knowledge) } },
  });
}

function nessus({ findings, at, hosts = ['web1', 'web2'], credentialed = true, enabled }: Scan): string {
  const time = new Date(day(at)).toUTCString();
  const plugins = [19_506, ...(enabled ?? []).map((n) => 50_000 + n)].join(';');
  const policy = `<Policy><Preferences><ServerPreferences><preference><name>plugin_set</name><value>${plugins}</value></preference></ServerPreferences></Preferences></Policy>`;
  const host = (name: string) => `
    <ReportHost name="${name}.example.com"><HostProperties>
      <tag name="host-fqdn">${name}.example.com</tag><tag name="HOST_START">${time}</tag><tag name="HOST_END">${time}</tag><tag name="Credentialed_Scan">${credentialed}</tag>
    </HostProperties>
    <ReportItem port="0" svc_name="general" protocol="tcp" severity="0" pluginID="19506" pluginName="Nessus Scan Information" pluginFamily="Settings">
      <plugin_output>Credentialed checks : ${credentialed ? 'yes' : 'no'}</plugin_output></ReportItem>
    ${findings.map((n) => `<ReportItem port="0" svc_name="general" protocol="tcp" severity="3" pluginID="${50_000 + n}" pluginName="Check ${n}" pluginFamily="Debian Local"><risk_factor>High</risk_factor><cve>${cve(n)}</cve></ReportItem>`).join('')}
    </ReportHost>`;
  return `<?xml version="1.0" ?><NessusClientData_v2>${enabled ? policy : ''}<Report name="weekly">${hosts.map(host).join('')}</Report></NessusClientData_v2>`;
}

const writers = { trivy, grype, nessus };
export type Format = keyof typeof writers;

const all = (count: number) => Array.from({ length: count }, (_, n) => n);
const without = (count: number, lost: (n: number) => boolean) => all(count).filter((n) => !lost(n));

interface Manipulation {
  name: string;
  formats: readonly Format[];
  /** The second scan, `size` being the number of findings of the first. Null: the file is cut off. */
  rescan: (size: number, seed: number) => { scan: Scan; scope?: ScanScope; isCut?: boolean };
}

const manipulations: readonly Manipulation[] = [
  {
    name: 'credentials are lost',
    formats: ['nessus'],
    rescan: (size, seed) => ({ scan: { findings: without(size, (n) => n % (2 + (seed % 3)) === 0), at: 8, credentialed: false } }),
  },
  {
    name: 'a family of plugins is switched off',
    formats: ['nessus'],
    rescan: (size, seed) => {
      const findings = without(size, (n) => n % (2 + (seed % 3)) === 0);
      return { scan: { findings, at: 8, enabled: findings } };
    },
  },
  { name: 'half the hosts are missing', formats: ['nessus'], rescan: (size) => ({ scan: { findings: all(size), at: 8, hosts: ['web1'] } }) },
  {
    name: 'only high and critical are reported',
    formats: ['trivy', 'grype'],
    rescan: (size) => ({ scan: { findings: without(size, (n) => n % 4 > 1), at: 8, digest: 'b' } }),
  },
  {
    name: 'the vulnerability database is older',
    formats: ['grype'],
    rescan: (size, seed) => ({ scan: { findings: without(size, (n) => n % (2 + (seed % 3)) === 0), at: 8, knowledge: 1 - (seed % 5) } }),
  },
  {
    name: 'the file is cut off',
    formats: ['trivy', 'grype', 'nessus'],
    rescan: (size) => ({ scan: { findings: all(size), at: 8, digest: 'b' }, isCut: true }),
  },
  {
    name: 'the scan is older',
    formats: ['trivy', 'grype', 'nessus'],
    rescan: (size, seed) => ({ scan: { findings: without(size, (n) => n % 2 === 0), at: 1 - (seed % 20), knowledge: -30, digest: 'b' } }),
  },
  {
    name: 'another tag was scanned',
    formats: ['trivy', 'grype'],
    rescan: (_, seed) => ({ scan: { findings: [], at: 8, image: `shop:${['staging', 'dev', '2.0.1', 'latest', 'canary'][seed % 5]}`, digest: 'b' } }),
  },
  {
    name: 'a pull request was scanned',
    formats: ['trivy', 'grype'],
    rescan: (_, seed) => ({ scan: { findings: [], at: 8, digest: 'b' }, scope: { track: `pr-${seed + 1}` } }),
  },
  {
    name: 'the build names no branch',
    formats: ['trivy', 'grype'],
    rescan: (_, seed) => ({ scan: { findings: [], at: 8, image: `shop:${String(seed).padStart(8, 'a0b1c2d3')}e4f5a6b7c8d9e0f1a2b3c4d5e6f7`, digest: 'b' } }),
  },
  {
    name: 'the same build was scanned again',
    formats: ['trivy'],
    rescan: (size, seed) => ({ scan: { findings: without(size, (n) => n % (2 + (seed % 3)) === 0), at: 8 } }),
  },
];

/** One manipulation of one report. `seed` varies both. */
export interface ManipulatedRescan {
  name: string;
  format: Format;
  seed: number;
  rescan: Manipulation['rescan'];
}

/** Each manipulation with this many different reports of each format. */
export function manipulatedRescans(seeds: number): ManipulatedRescan[] {
  return manipulations.flatMap(({ name, formats, rescan }) =>
    formats.flatMap((format) => Array.from({ length: seeds }, (_, seed) => ({ name, format, seed, rescan }))),
  );
}

function upload(engine: Engine, org: string, { format, text }: { format: Format; text: string }, scope: ScanScope = {}) {
  return engine.runFile(org, { format, name: `${format}.txt`, bytes: Buffer.from(text) }, { coverage: 'complete', ...scope });
}

/** Imports a scan and its manipulated repetition. Returns what became verified, which should be nothing. */
export async function falselyVerified(engine: Engine, { format, seed, rescan }: ManipulatedRescan): Promise<string[]> {
  const org = await engine.organization();
  const size = 24 + seed * 4;
  const first = await upload(engine, org, { format, text: writers[format]({ findings: all(size), at: 2 }) });
  const created = (await engine.findings(org)).length;
  if (first.status !== 'succeeded' || created < size) throw new Error(`the first scan has ${created} of ${size} findings: ${first.error}`);
  const { scan, scope, isCut } = rescan(size, seed);
  const text = writers[format](scan);
  await upload(engine, org, { format, text: isCut ? text.slice(0, Math.floor(text.length * (0.3 + 0.05 * (seed % 10)))) : text }, scope);
  return (await engine.findings(org)).filter(({ status }) => status === 'verified').map(({ weakness, asset }) => `${weakness} on ${asset}`);
}

/** Imports a scan and one that is as able and does not show one of the findings. Returns how many became verified. */
export async function trulyVerified(engine: Engine, format: Format, size = 8): Promise<number> {
  const org = await engine.organization();
  await upload(engine, org, { format, text: writers[format]({ findings: all(size), at: 2 }) });
  await upload(engine, org, { format, text: writers[format]({ findings: all(size - 1), at: 8, digest: 'b' }) });
  return (await engine.findings(org)).filter(({ status }) => status === 'verified').length;
}

/** How many scans that are as able as the first one prove what they no longer show. Otherwise, no manipulated one could verify anything falsely. */
export async function measureHonestRescans(engine: Engine, seeds: number): Promise<{ rescans: number; verified: number }> {
  const rescans = (Object.keys(writers) as Format[]).flatMap((format) => Array.from({ length: seeds }, (_, seed) => ({ format, size: 8 + seed })));
  let verified = 0;
  for (const { format, size } of rescans) if ((await trulyVerified(engine, format, size)) > 0) verified++;
  return { rescans: rescans.length, verified };
}

/** Figures of all manipulated rescans: how many verified something falsely. */
export async function measureRescans(engine: Engine, rescans: readonly ManipulatedRescan[]): Promise<{ rescans: number; falselyVerified: string[] }> {
  const wrong: string[] = [];
  for (const one of rescans) {
    const verified = await falselyVerified(engine, one);
    if (verified.length > 0) wrong.push(`${one.name} (${one.format}, ${one.seed}): ${verified.length} findings`);
  }
  return { rescans: rescans.length, falselyVerified: wrong };
}
