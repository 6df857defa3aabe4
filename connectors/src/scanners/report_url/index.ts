import { formats } from '@rrs/scan-reports';
import { type Static, Type } from 'typebox';
import { ConnectorError } from '../../core/connector-error.ts';
import { defineScanner, type SettingsProblem } from '../../core/contract.ts';
import { Choice, Secret } from '../../core/settings/fields.ts';
import { awsKeyFields, signedHeaders } from '../../core/sigv4.ts';
import { assertListable, type Bucket, emptyBucket, objectsOf, type RemoteFile } from './files.ts';
import { formatOf, progressOf, readFile } from './read-file.ts';
import { remoteReport } from './remote.ts';

const Config = Type.Object({
  url: Type.Optional(
    Type.String({
      title: 'URL',
      examples: ['https://reports.example.com/latest.sarif'],
      description: 'URL of one report, without a user name or password. Leave empty to read a bucket.',
      format: 'uri',
    }),
  ),
  bucket: Type.Optional(
    Type.String({
      title: 'Bucket',
      examples: ['acme-scan-reports'],
      description: 'Name of a bucket in S3 or an S3-compatible store. Every object with the prefix and suffix is read as a report.',
      minLength: 1,
    }),
  ),
  prefix: Type.String({
    title: 'Prefix',
    examples: ['reports/'],
    description: 'Reads only objects whose names start with this text, such as reports/.',
    default: '',
  }),
  suffix: Type.String({ title: 'Suffix', examples: ['.json'], description: 'Reads only objects whose names end with this text, such as .json.', default: '' }),
  region: Type.String({ title: 'Region', description: 'Region of the bucket.', default: 'us-east-1', pattern: '^[A-Za-z0-9-]+$' }),
  endpoint: Type.Optional(
    Type.String({
      title: 'Endpoint',
      examples: ['https://minio.example.com'],
      description: 'URL of an S3-compatible store. Leave empty for Amazon S3.',
      format: 'uri',
    }),
  ),
  format: Type.Optional(
    Choice(Object.fromEntries(formats.map(({ id, name }) => [id, name])), {
      title: 'Format',
      description: 'Format of the reports. Detected for each report if not set.',
    }),
  ),
  asset: Type.Optional(
    Type.String({
      title: 'Asset',
      examples: ['acme/shop'],
      description: 'Asset of reports that do not name one, such as the name of a repository.',
      minLength: 1,
    }),
  ),
  coverage: Choice(
    { complete: 'Complete: close what is missing', partial: 'Partial: close nothing' },
    {
      title: 'Coverage',
      description:
        'Whether missing findings are closed as fixed. complete: together, the reports contain all open findings on their assets, so missing ones are closed. partial: the reports may omit findings, so none is closed because it is missing.',
      default: 'complete',
    },
  ),
});
const Credentials = Type.Object({
  token: Type.Optional(Secret('Bearer token', 'For a URL that requires a bearer token.', { link: null })),
  username: Type.Optional(
    Type.String({ title: 'User name', examples: ['reports'], description: 'For a URL that requires a user name and password.', minLength: 1 }),
  ),
  password: Type.Optional(Secret('Password', 'Password of the user.', { link: null })),
  access_key_id: Type.Optional(awsKeyFields.access_key_id),
  secret_access_key: Type.Optional(awsKeyFields.secret_access_key),
  session_token: awsKeyFields.session_token,
});
type Settings = { config: Static<typeof Config>; credentials: Static<typeof Credentials> };

export const reportUrl = defineScanner({
  id: 'report_url',
  name: 'Report storage',
  version: 1,
  description: 'Reads a report in any supported format from a URL, or all reports in a bucket of S3 or an S3-compatible store.',
  documentation: 'https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListObjectsV2.html',
  permissions: 'read access to the URL, or s3:ListBucket on the bucket and s3:GetObject on the objects with the prefix',
  config: Config,
  credentials: Credentials,
  problems: ({ config: { url, bucket }, credentials: { username, password, access_key_id, secret_access_key } }) => [
    ...(url || bucket ? [] : [{ path: '/config/url', detail: 'is required if there is no bucket' }]),
    ...(url && bucket ? [{ path: '/config/bucket', detail: 'must not be combined with a URL' }] : []),
    ...pairProblems({ username, password }),
    ...pairProblems({ access_key_id, secret_access_key }),
  ],
  baseUrl: ({ config }) => (config.url ? new URL(config.url).origin : storeOf(config)),
  authorize({ config, credentials: { token, username, password, access_key_id, secret_access_key, session_token } }, request): Record<string, string> {
    if (config.url) {
      if (token) return { authorization: `Bearer ${token}` };
      return username || password ? { authorization: `Basic ${Buffer.from(`${username ?? ''}:${password ?? ''}`).toString('base64')}` } : {};
    }
    if (!access_key_id || !secret_access_key) return {};
    const keys = { access_key_id, secret_access_key, ...(session_token ? { session_token } : {}) };
    return signedHeaders(request, { keys, region: config.region, service: 's3', at: new Date() });
  },
  async check(context) {
    const source = sourceOf(context.config);
    if ('bucket' in source) await assertListable(context.http, source);
    else {
      const report = remoteReport({ ...context, file: source });
      try {
        await report.version();
        await formatOf(report, source, context.config.format);
      } finally {
        await report.close();
      }
    }
  },
  async *findings(context) {
    const { config } = context;
    const source = sourceOf(config);
    const files = 'bucket' in source ? await objectsOf(context.http, source) : [source];
    if (files.length === 0 && 'bucket' in source) throw emptyBucket(source);
    let progress = progressOf(context.checkpoint);
    for (const file of files) {
      if (file.name < progress.file || (file.name === progress.file && progress.isDone)) continue;
      progress = yield* readFile({ ...context, file }, config, progress);
    }
    return { coverage: config.coverage === 'partial' || progress.hasDoubts ? 'changes' : 'complete', cursor: null };
  },
});

/** Reports the missing one of two fields that require each other. */
function pairProblems(pair: Record<string, string | undefined>): SettingsProblem[] {
  const missing = Object.keys(pair).filter((name) => !pair[name]);
  const [given] = Object.keys(pair).filter((name) => pair[name]);
  return given ? missing.map((name) => ({ path: `/credentials/${name}`, detail: `is required together with ${given}` })) : [];
}

function storeOf({ endpoint, region }: Settings['config']): string {
  return endpoint || `https://s3.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`;
}

function sourceOf(config: Settings['config']): RemoteFile | Bucket {
  if (!config.url === !config.bucket) throw new ConnectorError('configuration', 'Set either the URL of a report or a bucket, but not both.');
  if (config.bucket) return { endpoint: storeOf(config), bucket: config.bucket, prefix: config.prefix, suffix: config.suffix };
  const { origin, pathname, href } = new URL(config.url ?? '');
  return { name: `${origin}${pathname}`, path: href, version: null, size: null };
}
