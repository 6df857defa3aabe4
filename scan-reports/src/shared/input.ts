import { ReportError, type ReportInput } from '../contract.ts';

/** Bytes needed to determine the encoding from a byte order mark or an XML declaration. */
const ENCODING_BYTES = 256;

/** Yields the file as UTF-8 without a byte order mark. Detects UTF-16 by its first bytes and other encodings by the XML declaration. */
export async function* textBytes(input: ReportInput): AsyncGenerator<Uint8Array> {
  let convert: ((bytes: Uint8Array, more: boolean) => Uint8Array) | null = null;
  let start: Uint8Array = new Uint8Array();
  for await (const chunk of input.open()) {
    if (convert === null) {
      start = start.length === 0 ? chunk : Buffer.concat([start, chunk]);
      if (start.length < ENCODING_BYTES) continue;
      convert = converterOf(start);
      yield convert(start, true);
    } else yield convert(chunk, true);
  }
  convert ??= converterOf(start);
  const rest = convert(start.length < ENCODING_BYTES ? start : new Uint8Array(), false);
  if (rest.length > 0) yield rest;
}

function converterOf(start: Uint8Array): (bytes: Uint8Array, more: boolean) => Uint8Array {
  const encoding = encodingOf(start);
  if (encoding !== 'utf-8') {
    const decoder = new TextDecoder(encoding);
    return (bytes, more) => Buffer.from(decoder.decode(bytes, { stream: more }));
  }
  let hasMark = start[0] === 0xef && start[1] === 0xbb && start[2] === 0xbf;
  return (bytes) => {
    if (!hasMark) return bytes;
    hasMark = false;
    return bytes.subarray(3);
  };
}

function encodingOf(bytes: Uint8Array): string {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le';
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be';
  // Every supported format starts with an ASCII character, so a zero byte next to it reveals UTF-16 and its byte order.
  if (bytes[1] === 0 && bytes[0] !== 0 && bytes[3] === 0) return 'utf-16le';
  if (bytes[0] === 0 && bytes[1] !== 0 && bytes[2] === 0) return 'utf-16be';
  const declaration = Buffer.from(bytes.subarray(0, ENCODING_BYTES)).toString('latin1');
  const [, label = ''] = /^\s*<\?xml[^>]*\sencoding\s*=\s*["']([\w.:-]+)["']/.exec(declaration) ?? [];
  return label === '' || /^(?:utf|ucs|us-ascii|iso-10646)/i.test(label) || !isEncoding(label) ? 'utf-8' : label;
}

function isEncoding(label: string): boolean {
  try {
    return new TextDecoder(label).encoding !== '';
  } catch {
    return false;
  }
}

export function fromBuffer(content: Uint8Array | string, filename: string | null = null): ReportInput {
  const bytes = typeof content === 'string' ? Buffer.from(content) : content;
  return {
    filename,
    async *open() {
      for (let at = 0; at < bytes.length; at += 65_536) yield bytes.subarray(at, at + 65_536);
    },
  };
}

/** Returns the first bytes of a report, as UTF-8. */
export async function beginning(input: ReportInput, length: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of textBytes(input)) {
    chunks.push(chunk);
    size += chunk.length;
    if (size >= length) break;
  }
  return Buffer.concat(chunks).subarray(0, length);
}

export function notThisFormat(expected: string): ReportError {
  return new ReportError(`The file does not have this format. Expected ${expected}.`);
}
