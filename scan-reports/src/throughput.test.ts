import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import type { ReportFormat, ReportInput } from './contract.ts';
import { nessus } from './formats/nessus/index.ts';
import { sarif } from './formats/sarif/index.ts';
import { trivy } from './formats/trivy/index.ts';
import { jsonValues } from './json/values.ts';
import { xmlElements } from './xml/elements.ts';

/** Reads generated reports that are far larger than the allowed memory. Memory use is asserted, speed is only printed. */

const MIB = 1024 * 1024;
const ALLOWED_GROWTH = 64 * MIB;

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

interface Layout {
  start: string;
  records: readonly string[];
  between: string;
  end: string;
  /** Approximate size of the report in bytes. */
  size: number;
}

/** Repeats one block of records, so that generating them does not distort the measurement. */
function stream({ start, records, between, end, size }: Layout): ReportInput & { records: number; bytes: number } {
  const block = Buffer.from(records.map((record) => `${between}${record}`).join(''));
  const blocks = Math.ceil(size / block.length);
  const first = Buffer.from(`${start}${records[0]}`);
  return {
    filename: null,
    records: 1 + blocks * records.length,
    bytes: first.length + blocks * block.length + end.length,
    async *open() {
      yield first;
      for (let count = 0; count < blocks; count++) yield block;
      yield Buffer.from(end);
    },
  };
}

async function measure(name: string, bytes: number, items: AsyncIterable<unknown>): Promise<{ count: number; growth: number }> {
  collectGarbage();
  const used = (): number => process.memoryUsage().heapUsed + process.memoryUsage().external;
  const spent = (): number => process.cpuUsage().user + process.cpuUsage().system;
  const before = used();
  let microseconds = -spent();
  let growth = 0;
  let count = 0;
  for await (const item of items) {
    // Facts about the run are not records.
    if (item !== null && typeof item === 'object' && 'run' in item) continue;
    if (++count % 4_000 !== 0) continue;
    microseconds += spent();
    collectGarbage();
    growth = Math.max(growth, used() - before);
    microseconds -= spent();
  }
  const seconds = Math.max(1, microseconds + spent()) / 1e6;
  const megabytes = bytes / 1e6;
  // Rates are per second of processor time, because other tests run at the same time.
  process.stderr.write(
    `${name}: ${megabytes.toFixed(0)} MB, ${count} items, ${(megabytes / seconds).toFixed(0)} MB/s, ${(count / seconds).toFixed(0)} items/s, +${(growth / MIB).toFixed(1)} MiB\n`,
  );
  return { count, growth };
}

const text = 'A flaw in the parser lets an "adjacent" attacker read data of other users.\n';

const vulnerability = (index: number): string =>
  JSON.stringify({
    VulnerabilityID: `CVE-2021-${10_000 + index}`,
    PkgID: `package-${index}@1.1.${index}`,
    PkgName: `package-${index}`,
    PkgIdentifier: { PURL: `pkg:deb/debian/package-${index}@1.1.${index}?arch=amd64&distro=debian-12`, UID: 'f00ba4' },
    InstalledVersion: `1.1.${index}`,
    FixedVersion: '1.2.0',
    Status: 'fixed',
    Layer: { Digest: `sha256:${'a'.repeat(64)}`, DiffID: `sha256:${'b'.repeat(64)}` },
    SeveritySource: 'nvd',
    PrimaryURL: `https://avd.example.com/nvd/cve-2021-${10_000 + index}`,
    Title: 'package: a flaw',
    Description: text.repeat(8),
    Severity: 'HIGH',
    CweIDs: ['CWE-787'],
    CVSS: { nvd: { V2Vector: 'AV:N/AC:M/Au:N/C:P/I:P/A:P', V3Vector: 'CVSS:3.1/AV:N/AC:H/PR:N/UI:N/S:U/C:H/I:H/A:H', V2Score: 6.8, V3Score: 8.1 } },
    References: Array.from({ length: 8 }, (_, number) => `https://example.com/advisory/${index}/${number}`),
    PublishedDate: '2021-01-01T00:00:00Z',
  });

const trivyReport = stream({
  start:
    '{"SchemaVersion":2,"ArtifactName":"shop:1.4","ArtifactType":"container_image","Results":[{"Target":"shop:1.4 (debian 12)","Class":"os-pkgs","Type":"debian","Vulnerabilities":[',
  records: Array.from({ length: 40 }, (_, index) => vulnerability(index)),
  between: ',',
  end: ']}],"Metadata":{"ImageID":"sha256:1"}}',
  size: 60e6,
});

const result = (index: number): string =>
  JSON.stringify({
    ruleId: 'example/sql-injection',
    ruleIndex: 0,
    message: { text },
    locations: [{ physicalLocation: { artifactLocation: { uri: `src/file-${index}.ts`, uriBaseId: '%SRCROOT%', index }, region: { startLine: index + 1 } } }],
    partialFingerprints: { primaryLocationLineHash: `39fa2ee980eb94b${index}:1` },
    codeFlows: [
      {
        threadFlows: [{ locations: Array.from({ length: 8 }, () => ({ location: { physicalLocation: { artifactLocation: { index } }, message: { text } } })) }],
      },
    ],
  });

const sarifReport = stream({
  start: '{"version":"2.1.0","runs":[{"results":[',
  records: Array.from({ length: 40 }, (_, index) => result(index)),
  between: ',',
  end: '],"tool":{"driver":{"name":"Example","rules":[{"id":"example/sql-injection"}]}}}]}',
  size: 10e6,
});

const item = (
  index: number,
): string => `<ReportItem port="${index}" svc_name="www" protocol="tcp" severity="3" pluginID="${90_000 + index}" pluginName="Apache &lt; 2.4.${index}" pluginFamily="Web Servers">
<cpe>cpe:/a:apache:http_server</cpe><cve>CVE-2021-${10_000 + index}</cve><cvss3_base_score>7.5</cvss3_base_score><cvss3_vector>CVSS:3.0/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:N/A:N</cvss3_vector>
<description>${text.replaceAll('"', '&quot;').repeat(8)}</description><risk_factor>High</risk_factor><see_also>https://example.com/a
https://example.com/b</see_also><solution>Upgrade.</solution><synopsis>The web server has weaknesses.</synopsis><xref>CWE:79</xref>
<plugin_output>  Installed version : 2.4.6</plugin_output></ReportItem>
`;

const nessusReport = stream({
  start:
    '<?xml version="1.0" ?><NessusClientData_v2><Report name="r"><ReportHost name="192.0.2.1"><HostProperties><tag name="host-ip">192.0.2.1</tag></HostProperties>',
  records: Array.from({ length: 40 }, (_, index) => item(index + 1)),
  between: '',
  end: '</ReportHost></Report></NessusClientData_v2>',
  size: 10e6,
});

const row = (index: number): string =>
  `${90_000 + index},CVE-2021-${10_000 + index},5.0,High,192.0.2.1,tcp,443,Apache,Weak.,"${text.replaceAll('"', '""').repeat(8)}",Upgrade.,https://example.com/a,`;

const csvReport = stream({
  start: 'Plugin ID,CVE,CVSS,Risk,Host,Protocol,Port,Name,Synopsis,Description,Solution,See Also,Plugin Output\n',
  records: Array.from({ length: 40 }, (_, index) => row(index)),
  between: '\n',
  end: '\n',
  size: 5e6,
});

test.each<[string, ReportFormat, typeof trivyReport]>([
  ['trivy', trivy, trivyReport],
  ['sarif', sarif, sarifReport],
  ['nessus', nessus, nessusReport],
  ['nessus csv', nessus, csvReport],
])('reads a large %s report in bounded memory', { timeout: 240_000 }, async (name, format, report) => {
  const { count, growth } = await measure(name, report.bytes, format.read(report));
  expect(count).toBe(report.records);
  expect(growth).toBeLessThan(ALLOWED_GROWTH);
});

test('skips values and elements that are not wanted', { timeout: 240_000 }, async () => {
  expect((await measure('json, skipped', trivyReport.bytes, jsonValues(trivyReport, ['Metadata.ImageID']))).count).toBe(1);
  expect((await measure('xml, skipped', nessusReport.bytes, xmlElements(nessusReport, ['**/HostProperties']))).count).toBe(1);
});
