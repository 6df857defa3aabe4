import { randomUUID } from 'node:crypto';
import { type FileHandle, open, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { S3ClientConfig } from '@aws-sdk/client-s3';
import { AppError, OperatorError } from '../shared/errors.ts';
import { absent, assertSha256, type BlobRef, type BlobStore, type ByteRange, isSha256, type StoredBlob } from './blobs.ts';
import { outsideTransactions } from './outside-transactions.ts';
import { counted, spool, verified } from './streams.ts';

export interface S3Options {
  bucket: string;
  prefix: string;
  region: string;
  endpoint?: string;
  forcePathStyle?: boolean;
  accessKeyId?: string;
  secretAccessKey?: string;
}

/** Content that is older than this is uploaded again, which renews its age: a sweep erases only what has been stored for long. */
const RENEW_AFTER_MS = 60 * 60 * 1000;

type Sdk = typeof import('@aws-sdk/client-s3');

// The connection timeout of the SDK includes the wait for a free socket, so this allows more sockets than the default of 50.
const TRANSPORT = { connectionTimeout: 5_000, socketTimeout: 60_000, httpAgent: { maxSockets: 256 }, httpsAgent: { maxSockets: 256 } };

/** The SDK is imported on demand, because it needs about 22 MB of memory that a service with a file store does not need. */
export async function openS3Store(options: S3Options): Promise<BlobStore> {
  const sdk = await import('@aws-sdk/client-s3');
  const client = new sdk.S3Client(clientConfig(options));
  const Bucket = options.bucket;
  const prefix = options.prefix === '' || options.prefix.endsWith('/') ? options.prefix : `${options.prefix}/`;

  function keyOf(sha256: string): string {
    assertSha256(sha256);
    return prefix + sha256;
  }

  async function find(sha256: string): Promise<StoredBlob | null> {
    const head = await unlessAbsent(client.send(new sdk.HeadObjectCommand({ Bucket, Key: keyOf(sha256) })));
    // A store that states no time is taken to have stored the content now, so that it is not erased.
    return head && { sha256, size: head.ContentLength ?? 0, storedAt: head.LastModified ?? new Date() };
  }

  async function read(sha256: string, Range?: string): Promise<Readable | null> {
    const found = await unlessAbsent(client.send(new sdk.GetObjectCommand({ Bucket, Key: keyOf(sha256), ...(Range === undefined ? {} : { Range }) })));
    if (!found) return null;
    if (!(found.Body instanceof Readable)) throw new TypeError('The S3 client returned no stream.');
    return found.Body;
  }

  async function getRange(sha256: string, range: ByteRange): Promise<Readable | null> {
    const body = await read(sha256, `bytes=${range.start}-${range.end}`);
    return body && counted(body, range, explain);
  }

  return outsideTransactions({
    folder: null,

    async put(content, options) {
      const file = await openUnnamed();
      try {
        const ref = await spool(content, file, options);
        const found = await find(ref.sha256);
        if (found?.size !== ref.size || found.storedAt.getTime() < Date.now() - RENEW_AFTER_MS) {
          await client.send(upload(sdk, { Bucket, Key: keyOf(ref.sha256) }, ref, file)).catch(refuse);
        }
        return ref;
      } finally {
        await file.close();
      }
    },

    async get(sha256) {
      const body = await read(sha256);
      return body && verified(body, sha256, explain);
    },

    getRange,

    async *pieces(sha256, range) {
      const stream = await getRange(sha256, range);
      if (!stream) throw absent(sha256);
      yield* stream;
    },

    stat: find,

    async delete(sha256) {
      await unlessAbsent(client.send(new sdk.DeleteObjectCommand({ Bucket, Key: keyOf(sha256) })));
    },

    async *list() {
      let next: string | undefined;
      do {
        const page = await client
          .send(new sdk.ListObjectsV2Command({ Bucket, Prefix: prefix, ...(next === undefined ? {} : { ContinuationToken: next }) }))
          .catch(refuse);
        for (const { Key = '', Size = 0, LastModified = new Date() } of page.Contents ?? []) {
          const sha256 = Key.slice(prefix.length);
          if (isSha256(sha256)) yield { sha256, size: Size, storedAt: LastModified };
        }
        next = page.NextContinuationToken;
      } while (next !== undefined);
    },

    async check() {
      try {
        await client.send(new sdk.HeadBucketCommand({ Bucket }));
      } catch (error) {
        if (!isRefusal(error)) throw explain(error);
        const { status, name } = errorResponseOf(error);
        const reason = status === 404 ? 'it does not exist' : `the object store returned ${status ?? name}`;
        throw new OperatorError(`The bucket "${Bucket}" for stored files cannot be used: ${reason}. Check its name, region, endpoint and credentials.`, {
          cause: error,
        });
      }
    },
  });
}

function clientConfig({ region, endpoint, forcePathStyle = false, accessKeyId, secretAccessKey }: S3Options): S3ClientConfig {
  return {
    region,
    forcePathStyle,
    requestHandler: TRANSPORT,
    // We verify the bytes ourselves, and some S3-compatible stores reject the additional checksums of the SDK.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(accessKeyId === undefined || secretAccessKey === undefined ? {} : { credentials: { accessKeyId, secretAccessKey } }),
  };
}

/** An unlinked file: no other process can open it, and a crash does not leave it behind. */
async function openUnnamed(): Promise<FileHandle> {
  const path = join(tmpdir(), `blob-${randomUUID()}`);
  const file = await open(path, 'wx+', 0o600);
  await unlink(path);
  return file;
}

/**
 * The SDK does not retry a request whose body is a stream. A middleware below its retries therefore opens the file for each attempt.
 * The digest is sent twice: stores that do not support the checksum header still verify the signed payload hash.
 */
function upload(sdk: Sdk, target: { Bucket: string; Key: string }, { sha256, size }: BlobRef, file: FileHandle) {
  const command = new sdk.PutObjectCommand({ ...target, ContentLength: size, ChecksumSHA256: Buffer.from(sha256, 'hex').toString('base64') });
  command.middlewareStack.add(
    (next) => (args) => {
      (args.request as { headers: Record<string, string> }).headers['x-amz-content-sha256'] = sha256;
      return next(args);
    },
    { step: 'build', name: 'payloadDigest' },
  );
  command.middlewareStack.add(
    (next) => (args) => {
      (args.request as { body: unknown }).body = file.createReadStream({ start: 0, autoClose: false });
      return next(args);
    },
    { step: 'finalizeRequest', priority: 'low', name: 'spooledBody' },
  );
  return command;
}

async function unlessAbsent<T>(response: Promise<T>): Promise<T | null> {
  try {
    return await response;
  } catch (error) {
    const { status, name } = errorResponseOf(error);
    if (status === 404 && name !== 'NoSuchBucket') return null;
    throw explain(error);
  }
}

function errorResponseOf(error: unknown): { status: number | undefined; name: string } {
  if (!(error instanceof Error)) return { status: undefined, name: '' };
  const { $metadata: metadata } = error as { $metadata?: { httpStatusCode?: number } };
  return { status: metadata?.httpStatusCode, name: error.name };
}

function refuse(error: unknown): never {
  throw explain(error);
}

/** Whether the store refused the request, so that a retry would fail in the same way. */
function isRefusal(error: unknown): boolean {
  const { status, name } = errorResponseOf(error);
  return name === 'CredentialsProviderError' || (status !== undefined && status >= 300 && status < 500 && status !== 429);
}

function explain(error: unknown): AppError {
  const message = isRefusal(error)
    ? `The object store refused the request (${errorResponseOf(error).name}). Check the bucket, credentials and permissions. The content may also have been corrupted in transit.`
    : 'The object store cannot be reached. Retry later.';
  return new AppError('unavailable', message, { cause: error });
}
