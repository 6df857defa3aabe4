import type { FakeRequest, FakeResponse, FakeVendor } from '../../testing/fake-server.ts';
import { isSigned } from '../../testing/fake-sigv4.ts';

const KEYS = { access_key_id: 'AKIDREPORTS000000001', secret_access_key: 'reports-secret-0123456789abcdefghijklmno' };
const SCOPE = { region: 'eu-central-1', service: 's3' };
const IMAGES = 9;
const EACH = 3;
const severities = ['CRITICAL', 'HIGH', 'MEDIUM', 'LOW'];

const report = (n: number, isBad: boolean): string =>
  JSON.stringify({
    SchemaVersion: 2,
    ArtifactName: `registry.example.com/shop/part-${n}:1.4`,
    ArtifactType: 'container_image',
    Results: [
      {
        Target: 'debian 12',
        Class: 'os-pkgs',
        Type: 'debian',
        Vulnerabilities: [
          ...Array.from({ length: EACH }, (_, one) => ({
            VulnerabilityID: `CVE-2025-${1000 + EACH * n + one}`,
            PkgName: `lib${one}`,
            InstalledVersion: '1.0.0',
            FixedVersion: '1.0.1',
            Severity: severities[(n + one) % 4],
            Title: `Weakness ${EACH * n + one}`,
          })),
          ...(isBad ? [{ Severity: 'HIGH' }] : []),
        ],
      },
    ],
  });

const config = (origin: string) => ({ bucket: 'scans', prefix: 'nightly/', suffix: '.json', region: SCOPE.region, endpoint: origin, coverage: 'complete' });

/** An S3-compatible store with path-style URLs. */
export const reportUrlFake: FakeVendor = {
  id: 'report_url',
  settings: (origin) => ({ config: config(origin), credentials: KEYS }),
  refused: (origin) => ({ config: config(origin), credentials: { ...KEYS, secret_access_key: 'another-secret-0123456789abcdefghijklmno' } }),
  answer({ pageSize, endless, badRecord }) {
    const reports = Array.from({ length: IMAGES }, (_, n) => [`nightly/part ${n} (+ü).json`, report(n, badRecord === true && n === 3)] as const);
    const objects = new Map([...reports, ['nightly/', ''], ['nightly/README.txt', 'Nightly reports'], ['weekly/old.json', report(99, false)]]);
    return (request) => {
      if (!isSigned(request, KEYS, SCOPE)) return failed(403, 'SignatureDoesNotMatch', 'The signature does not match the one that was calculated.');
      const path = decodeURIComponent(request.url.pathname);
      if (path === '/scans' && request.url.searchParams.get('list-type') === '2') return listing(request, objects, { pageSize, endless: endless === true });
      const content = objects.get(path.replace('/scans/', ''));
      return content === undefined ? failed(404, 'NoSuchKey', 'The specified key does not exist.') : object(request, content);
    };
  },
};

function failed(status: number, code: string, message: string): FakeResponse {
  return { status, body: `<?xml version="1.0" encoding="UTF-8"?><Error><Code>${code}</Code><Message>${message}</Message></Error>` };
}

function listing({ url }: FakeRequest, objects: ReadonlyMap<string, string>, { pageSize, endless }: { pageSize: number; endless: boolean }): FakeResponse {
  const prefix = url.searchParams.get('prefix') ?? '';
  const keys = [...objects.keys()].filter((key) => key.startsWith(prefix)).sort();
  const from = Number(url.searchParams.get('continuation-token') ?? 0);
  const to = from + Math.min(pageSize, Number(url.searchParams.get('max-keys') ?? 1000));
  const contents = keys.slice(from, to).map((key) => {
    const content = objects.get(key) ?? '';
    return `<Contents><Key>${key}</Key><ETag>&quot;${tagOf(content)}&quot;</ETag><Size>${Buffer.byteLength(content)}</Size></Contents>`;
  });
  const more = endless || to < keys.length;
  return {
    page: true,
    body:
      `<?xml version="1.0" encoding="UTF-8"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>scans</Name>${contents.join('')}` +
      `<IsTruncated>${more}</IsTruncated>${more ? `<NextContinuationToken>${to}</NextContinuationToken>` : ''}</ListBucketResult>`,
  };
}

function object({ headers }: FakeRequest, content: string): FakeResponse {
  const bytes = Buffer.from(content);
  const [, from] = /^bytes=(\d+)-$/.exec(headers.range ?? '') ?? [];
  const part = from === undefined ? { body: bytes } : { status: 206, body: bytes.subarray(Number(from)) };
  return { page: true, headers: { etag: `"${tagOf(content)}"` }, ...part };
}

function tagOf(content: string): string {
  return `${content.length}-${Buffer.from(content).toString('base64').slice(0, 24)}`;
}
