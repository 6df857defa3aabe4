import { fromBuffer, ReportError } from '@rrs/scan-reports';
import { xmlRecords } from '@rrs/scan-reports/xml-records.ts';
import { ConnectorError } from '../../core/connector-error.ts';
import type { Http } from '../../core/contract.ts';
import { awsEncoded } from '../../core/sigv4.ts';

export interface RemoteFile {
  /** Also identifies the file. */
  name: string;
  /** The full URL. */
  path: string;
  /** From the list of objects. Null for a single URL. */
  version: string | null;
  size: number | null;
}

export interface Bucket {
  endpoint: string;
  bucket: string;
  prefix: string;
  suffix: string;
}

const MAX_FILES = 10_000;
const MAX_EMPTY_PAGES = 100;

/** All objects with the prefix, sorted by name. */
export async function objectsOf(http: Http, place: Bucket): Promise<RemoteFile[]> {
  const files: RemoteFile[] = [];
  for (let token: string | null = null, empty = 0, isFirst = true; isFirst || token !== null; isFirst = false) {
    const page: Listing = await listPage(http, place, token === null ? {} : { 'continuation-token': token });
    files.push(...page.files.filter(({ name }) => name.endsWith(place.suffix) && !name.endsWith('/')));
    empty = page.files.length === 0 ? empty + 1 : 0;
    if (page.next !== null && (page.next === token || empty > MAX_EMPTY_PAGES))
      throw new ConnectorError('incomplete', `The list of objects in ${place.bucket} does not end.`);
    token = page.next;
    if (files.length > MAX_FILES)
      throw new ConnectorError('incomplete', `There are more than ${MAX_FILES} objects under "${place.prefix}" in ${place.bucket}. Use a longer prefix.`);
  }
  return files.sort((a, b) => (a.name < b.name ? -1 : 1));
}

export async function assertListable(http: Http, place: Bucket): Promise<void> {
  const { files } = await listPage(http, place, { 'max-keys': '1' });
  if (files.length === 0) throw emptyBucket(place);
}

export function emptyBucket({ bucket, prefix }: Bucket): ConnectorError {
  return new ConnectorError('configuration', `The bucket ${bucket} contains no report under "${prefix}". Check bucket, prefix and suffix.`);
}

interface Listing {
  files: RemoteFile[];
  next: string | null;
}

async function listPage(http: Http, place: Bucket, query: Record<string, string>): Promise<Listing> {
  const all = { 'list-type': '2', ...(place.prefix ? { prefix: place.prefix } : {}), ...query };
  const search = Object.entries(all).map(([name, value]) => `${name}=${awsEncoded(value)}`);
  const { body } = await http.text({ path: `${bucketUrl(place)}?${search.join('&')}`, isComplete: (text) => /<\/(?:\w+:)?ListBucketResult>\s*$/.test(text) });
  const listing = await listingOf(body, place);
  if (listing) return listing;
  throw new ConnectorError('invalid_answer', `The list of objects in ${place.bucket} does not match the S3 documentation.`);
}

async function listingOf(xml: string, place: Bucket): Promise<Listing | null> {
  try {
    for await (const { fields } of xmlRecords(fromBuffer(xml), 'ListBucketResult', ['Contents', 'IsTruncated', 'NextContinuationToken'])) {
      const text = (name: string): string => fields.get(name)?.[0]?.text ?? '';
      if (text('IsTruncated') === '') return null;
      const files = (fields.get('Contents') ?? []).map(({ children }) => {
        const field = (name: string): string => children.find((child) => child.name === name)?.text ?? '';
        return objectFile(place, field('Key'), { version: field('ETag'), size: field('Size') });
      });
      return { files, next: text('IsTruncated') === 'true' ? text('NextContinuationToken') || null : null };
    }
  } catch (error) {
    if (!(error instanceof ReportError)) throw error;
  }
  return null;
}

function objectFile(place: Bucket, key: string, { version, size }: { version: string; size: string }): RemoteFile {
  const path = `${bucketUrl(place)}/${key.split('/').map(awsEncoded).join('/')}`;
  // URLs normalize "." and "..", so the request would read another object.
  if (new URL(path).href !== path) throw new ConnectorError('configuration', `The object "${key}" has a name that cannot be requested. Rename it.`);
  return { name: key, path, version: version ? versionOf(version) : null, size: /^\d+$/.test(size) ? Number(size) : null };
}

function bucketUrl({ endpoint, bucket }: Bucket): string {
  return `${endpoint.replace(/(?<!\/)\/+$/, '')}/${awsEncoded(bucket)}`;
}

/** Stores send ETags with or without quotation marks. */
export function versionOf(mark: string): string {
  return mark.replace(/^W\//, '').replaceAll('"', '');
}
