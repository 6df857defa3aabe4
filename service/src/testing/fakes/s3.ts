import { createHash, createHmac, randomUUID, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';

type Operation = 'PutObject' | 'GetObject' | 'HeadObject' | 'DeleteObject' | 'ListObjectsV2' | 'HeadBucket';

/** busy: responds 503 SlowDown. damage: flips a bit of an upload. cut: drops the connection halfway. shorten: sends half of the bytes as a complete response. */
interface Fault {
  on: Operation;
  behave: 'busy' | 'damage' | 'cut' | 'shorten';
  times: number;
}

interface StoredObject {
  path: string;
  size: number;
  modified: Date;
}

interface Seen {
  operation: Operation;
  key: string;
  headers: IncomingMessage['headers'];
}

/** The parts of the Amazon S3 REST API that the store uses. Objects are kept on disk, so that the memory use of the store can be measured. */
export interface S3Fake {
  endpoint: string;
  bucket: string;
  region: string;
  accessKeyId: string;
  secretAccessKey: string;
  objects: Map<string, StoredObject>;
  seen: Seen[];
  faults: Fault[];
  /** Called for each chunk of an upload. */
  onUpload: () => void;
  close(): Promise<void>;
}

interface Exchange {
  fake: S3Fake;
  folder: string;
  pageSize: number;
  request: IncomingMessage;
  response: ServerResponse;
  key: string;
  query: URLSearchParams;
  fault: Fault['behave'] | undefined;
}

export async function startS3Fake({ pageSize = 1000 } = {}): Promise<S3Fake> {
  const folder = await mkdtemp(join(tmpdir(), 's3-fake-'));
  const server = createServer((request, response) => {
    serve(request, response).catch((error: unknown) => {
      if (response.headersSent) response.destroy();
      else refuse(response, 500, 'InternalError', String(error));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');

  const fake: S3Fake = {
    endpoint: `http://127.0.0.1:${address.port}`,
    bucket: 'evidence',
    region: 'eu-central-1',
    accessKeyId: 'AKIAFAKE',
    secretAccessKey: 'fake-secret',
    objects: new Map(),
    seen: [],
    faults: [],
    onUpload: () => {},
    async close() {
      server.close();
      server.closeAllConnections();
      await rm(folder, { recursive: true, force: true });
    },
  };

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', fake.endpoint);
    const [bucket = '', ...rest] = decodeURIComponent(url.pathname.slice(1)).split('/');
    const key = rest.join('/');
    const operation = operationOf(request.method ?? '', key);
    if (!operation) return refuse(response, 405, 'MethodNotAllowed');
    fake.seen.push({ operation, key, headers: request.headers });

    const planned = fake.faults.find((fault) => fault.on === operation && fault.times > 0);
    if (planned) planned.times--;
    if (planned?.behave === 'busy') return refuse(response, 503, 'SlowDown');

    const denied = signatureProblem(request, fake);
    if (denied) return refuse(response, 403, denied);
    if (bucket !== fake.bucket) return refuse(response, 404, 'NoSuchBucket');
    await HANDLERS[operation]({ fake, folder, pageSize, request, response, key, query: url.searchParams, fault: planned?.behave });
  }

  return fake;
}

function operationOf(method: string, key: string): Operation | undefined {
  if (key === '') return ({ GET: 'ListObjectsV2', HEAD: 'HeadBucket' } as const)[method];
  return ({ PUT: 'PutObject', GET: 'GetObject', HEAD: 'HeadObject', DELETE: 'DeleteObject' } as const)[method];
}

const HANDLERS: Record<Operation, (exchange: Exchange) => Promise<void>> = {
  PutObject: putObject,
  GetObject: getObject,
  async HeadObject({ fake, key, response }) {
    const object = fake.objects.get(key);
    if (!object) return refuse(response, 404, 'NoSuchKey');
    response.writeHead(200, { 'content-length': object.size, 'last-modified': object.modified.toUTCString() }).end();
  },
  async DeleteObject({ fake, key, response }) {
    const object = fake.objects.get(key);
    fake.objects.delete(key);
    if (object) await rm(object.path);
    response.writeHead(204).end();
  },
  async HeadBucket({ response }) {
    response.writeHead(200).end();
  },
  async ListObjectsV2({ fake, query, response, pageSize }) {
    const prefix = query.get('prefix') ?? '';
    const token = query.get('continuation-token');
    const after = token === null ? '' : Buffer.from(token, 'base64').toString();
    const limit = Math.min(pageSize, Number(query.get('max-keys') ?? 1000));
    const remaining = [...fake.objects.keys()].filter((key) => key.startsWith(prefix) && key > after).sort();
    const page = remaining.slice(0, limit);
    const truncated = remaining.length > page.length;
    const contents = page
      .map((key) => ({ key, object: fake.objects.get(key) }))
      .map(
        ({ key, object }) =>
          `<Contents><Key>${escaped(key)}</Key><LastModified>${object?.modified.toISOString()}</LastModified><Size>${object?.size}</Size></Contents>`,
      )
      .join('');
    const next = truncated ? `<NextContinuationToken>${Buffer.from(page.at(-1) ?? '').toString('base64')}</NextContinuationToken>` : '';
    const head = `<Name>${fake.bucket}</Name><Prefix>${escaped(prefix)}</Prefix><KeyCount>${page.length}</KeyCount><MaxKeys>${limit}</MaxKeys>`;
    const body = `<?xml version="1.0" encoding="UTF-8"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${head}<IsTruncated>${truncated}</IsTruncated>${next}${contents}</ListBucketResult>`;
    response.writeHead(200, { 'content-type': 'application/xml' }).end(body);
  },
};

async function putObject({ fake, folder, key, request, response, fault }: Exchange): Promise<void> {
  const { headers } = request;
  if (headers['content-length'] === undefined) return refuse(response, 411, 'MissingContentLength');
  if (headers['content-encoding']?.includes('aws-chunked')) return refuse(response, 501, 'NotImplemented');
  const path = join(folder, randomUUID());
  const hash = createHash('sha256');
  let size = 0;
  await pipeline(
    request,
    async function* (source: AsyncIterable<Buffer>) {
      for await (const chunk of source) {
        if (fault === 'damage' && size === 0) chunk[0] = (chunk[0] ?? 0) ^ 1;
        fake.onUpload();
        size += chunk.length;
        hash.update(chunk);
        yield chunk;
      }
    },
    createWriteStream(path),
  );
  const digest = hash.digest();
  const checksum = headers['x-amz-checksum-sha256'];
  const payload = headers['x-amz-content-sha256'];
  const wrong =
    checksum !== undefined && checksum !== digest.toString('base64')
      ? 'BadDigest'
      : payload !== 'UNSIGNED-PAYLOAD' && payload !== digest.toString('hex')
        ? 'XAmzContentSHA256Mismatch'
        : undefined;
  if (wrong) {
    await rm(path);
    return refuse(response, 400, wrong);
  }
  fake.objects.set(key, { path, size, modified: new Date() });
  response.writeHead(200, { etag: '"fake"' }).end();
}

async function getObject({ fake, key, request, response, fault }: Exchange): Promise<void> {
  const object = fake.objects.get(key);
  if (!object) return refuse(response, 404, 'NoSuchKey');
  const [, start, end] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '') ?? [];
  if (start !== undefined && Number(start) >= object.size) return refuse(response, 416, 'InvalidRange');
  if (start !== undefined && fault === undefined) {
    const last = Math.min(Number(end), object.size - 1);
    response.writeHead(206, { 'content-length': last - Number(start) + 1, 'content-range': `bytes ${start}-${last}/${object.size}` });
    return pipeline(createReadStream(object.path, { start: Number(start), end: last }), response);
  }
  const half = Math.floor(object.size / 2);
  response.writeHead(200, { 'content-length': fault === 'shorten' ? half : object.size });
  if (fault === undefined) return pipeline(createReadStream(object.path), response);
  for await (const chunk of createReadStream(object.path, { end: half - 1 })) response.write(chunk);
  if (fault === 'shorten') response.end();
  else response.write('', () => response.destroy());
}

function refuse(response: ServerResponse, status: number, code: string, message = code): void {
  const head = response.req.method === 'HEAD';
  response.writeHead(status, { 'content-type': 'application/xml' });
  response.end(head ? undefined : `<?xml version="1.0" encoding="UTF-8"?><Error><Code>${code}</Code><Message>${escaped(message)}</Message></Error>`);
  response.req.resume();
}

function escaped(text: string): string {
  return text.replace(/[<>&'"]/g, (char) => `&#${char.charCodeAt(0)};`);
}

/** Signature Version 4, "Authenticating Requests: Using the Authorization Header" of the Amazon S3 API reference. */
function signatureProblem({ method, url = '/', headers }: IncomingMessage, fake: S3Fake): string | undefined {
  const pattern = /^AWS4-HMAC-SHA256 Credential=([^/]+)\/((\d{8})\/([^/]+)\/s3\/aws4_request), ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/;
  const [, keyId, scope = '', day = '', region = '', signedHeaders = '', signature = ''] = pattern.exec(headers.authorization ?? '') ?? [];
  if (keyId === undefined) return 'AccessDenied';
  if (keyId !== fake.accessKeyId) return 'InvalidAccessKeyId';

  const [path = '/', query = ''] = url.split('?');
  const canonicalQuery = query
    .split('&')
    .filter(Boolean)
    .map((pair) => (pair.includes('=') ? pair : `${pair}=`))
    .sort()
    .join('&');
  const names = signedHeaders.split(';');
  const required = ['host', ...Object.keys(headers).filter((name) => name.startsWith('x-amz-'))];
  if (required.some((name) => !names.includes(name))) return 'AccessDenied';
  const canonicalHeaders = names.map((name) => `${name}:${String(headers[name]).trim().replace(/ +/g, ' ')}\n`).join('');
  const canonical = [method, path, canonicalQuery, canonicalHeaders, signedHeaders, headers['x-amz-content-sha256']].join('\n');

  const digest = createHash('sha256').update(canonical).digest('hex');
  const toSign = ['AWS4-HMAC-SHA256', headers['x-amz-date'], scope, digest].join('\n');
  const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();
  const signingKey = [day, region, 's3', 'aws4_request'].reduce<Buffer>((key, text) => hmac(key, text), Buffer.from(`AWS4${fake.secretAccessKey}`));
  return timingSafeEqual(hmac(signingKey, toSign), Buffer.from(signature, 'hex')) ? undefined : 'SignatureDoesNotMatch';
}
