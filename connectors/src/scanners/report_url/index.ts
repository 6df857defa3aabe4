import { formats } from '@rrs/scan-reports';
import { type Static, Type } from 'typebox';
import { ConnectorError, defineScanner, Secret, type SettingsProblem } from '../../core/contract.ts';
import { awsKeyFields, signedHeaders } from '../../core/sigv4.ts';
import { assertListable, type Bucket, nothingThere, objectsOf, type RemoteFile } from './files.ts';
import { formatOf, progressOf, readFile } from './read-file.ts';
import { remoteReport } from './remote.ts';

const Config = Type.Object({
  url: Type.Optional(
    Type.String({ title: 'Address', description: 'Of one report, without a user name or password in it. Leave it out for a bucket.', format: 'uri' }),
  ),
  bucket: Type.Optional(Type.String({ title: 'Bucket', description: 'Of S3 or a store like it; every object under the prefix is a report', minLength: 1 })),
  prefix: Type.String({ title: 'Prefix', description: 'Only objects whose names begin so, such as reports/', default: '' }),
  suffix: Type.String({ title: 'Suffix', description: 'Only objects whose names end so, such as .json', default: '' }),
  region: Type.String({ title: 'Region', description: 'Of the bucket', default: 'us-east-1', pattern: '^[A-Za-z0-9-]+$' }),
  endpoint: Type.Optional(Type.String({ title: 'Address of the store', description: 'Of a store like S3; for S3 itself leave it out', format: 'uri' })),
  format: Type.Optional(
    Type.Enum(
      formats.map(({ id }) => id),
      { title: 'Format', description: 'Found out for each report when it is left out' },
    ),
  ),
  asset: Type.Optional(
    Type.String({ title: 'Asset', description: 'What reports are about that do not say so themselves, such as the name of a repository', minLength: 1 }),
  ),
  coverage: Type.Enum(['complete', 'partial'], {
    title: 'Coverage',
    description:
      'complete: together the reports have everything that is open on the assets in them, so what is missing is fixed. partial: they may leave something out, as when reports of several tools on one asset come and go.',
    default: 'complete',
  }),
});
const Credentials = Type.Object({
  token: Type.Optional(Secret('Bearer token', 'For an address that asks for one')),
  username: Type.Optional(Type.String({ title: 'User name', description: 'For an address that asks for a user name and password', minLength: 1 })),
  password: Type.Optional(Secret('Password', 'Of that user')),
  access_key_id: Type.Optional(awsKeyFields.access_key_id),
  secret_access_key: Type.Optional(awsKeyFields.secret_access_key),
  session_token: awsKeyFields.session_token,
});
type Settings = { config: Static<typeof Config>; credentials: Static<typeof Credentials> };

export const reportUrl = defineScanner({
  id: 'report_url',
  name: 'Reports at an address',
  version: 1,
  description: 'Fetches a report of any known format from an address, or all reports in a bucket of S3 or a store like it.',
  documentation: 'https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListObjectsV2.html',
  permissions: 'read access to the address; for a bucket s3:ListBucket on it and s3:GetObject on the objects under the prefix',
  config: Config,
  credentials: Credentials,
  problems: ({ config: { url, bucket }, credentials: { username, password, access_key_id, secret_access_key } }) => [
    ...(url || bucket ? [] : [{ path: '/config/url', detail: 'is required, or a bucket' }]),
    ...(url && bucket ? [{ path: '/config/bucket', detail: 'must not be given beside an address' }] : []),
    ...halves({ username, password }),
    ...halves({ access_key_id, secret_access_key }),
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
    const place = placeOf(context.config);
    if ('bucket' in place) await assertListable(context.http, place);
    else {
      const report = remoteReport({ ...context, file: place });
      try {
        await report.version();
        await formatOf(report, place, context.config.format);
      } finally {
        await report.close();
      }
    }
  },
  async *findings(context) {
    const { config } = context;
    const place = placeOf(config);
    const files = 'bucket' in place ? await objectsOf(context.http, place) : [place];
    if (files.length === 0 && 'bucket' in place) throw nothingThere(place);
    let progress = progressOf(context.checkpoint);
    for (const file of files) {
      if (file.name < progress.file || (file.name === progress.file && progress.isDone)) continue;
      progress = yield* readFile({ ...context, file }, config, progress);
    }
    return { coverage: config.coverage === 'partial' || progress.hasDoubts ? 'changes' : 'complete', cursor: null };
  },
});

/** Of two that are of no use without each other, the one that is missing. */
function halves(pair: Record<string, string | undefined>): SettingsProblem[] {
  const missing = Object.keys(pair).filter((name) => !pair[name]);
  const [given] = Object.keys(pair).filter((name) => pair[name]);
  return given ? missing.map((name) => ({ path: `/credentials/${name}`, detail: `is required beside ${given}` })) : [];
}

function storeOf({ endpoint, region }: Settings['config']): string {
  return endpoint || `https://s3.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`;
}

function placeOf(config: Settings['config']): RemoteFile | Bucket {
  if (!config.url === !config.bucket) throw new ConnectorError('configuration', 'Name either the address of a report or a bucket, and not both.');
  if (config.bucket) return { endpoint: storeOf(config), bucket: config.bucket, prefix: config.prefix, suffix: config.suffix };
  const { origin, pathname, href } = new URL(config.url ?? '');
  return { name: `${origin}${pathname}`, path: href, version: null, size: null };
}
