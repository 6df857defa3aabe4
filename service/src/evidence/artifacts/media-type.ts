// biome-ignore-all lint/suspicious/noControlCharactersInRegex: control characters identify file types
/** Media types are detected from the first bytes. The type that the client sends is ignored. */
export const artifactMediaTypes = [
  'application/pdf',
  'image/png',
  'image/jpeg',
  'image/gif',
  'image/webp',
  'application/zip',
  'application/gzip',
  'application/json',
  'application/xml',
  'text/plain',
  'application/octet-stream',
] as const;
export type ArtifactMediaType = (typeof artifactMediaTypes)[number];

export const HEAD_BYTES = 4096;

const signatures: readonly (readonly [RegExp, ArtifactMediaType])[] = [
  [/^%PDF-/, 'application/pdf'],
  [/^\x89PNG\r\n\x1a\n/, 'image/png'],
  [/^\xff\xd8\xff/, 'image/jpeg'],
  [/^GIF8[79]a/, 'image/gif'],
  [/^RIFF.{4}WEBP/s, 'image/webp'],
  [/^PK(?:\x03\x04|\x05\x06|\x07\x08)/, 'application/zip'],
  [/^\x1f\x8b\x08/, 'application/gzip'],
];

/** Threat: a browser would run HTML, SVG or XHTML, also inside XML. Such content is reported as plain text. */
const ACTIVE =
  /<(?:!doctype\s+html|(?:[\w-]+:)?(?:html|head|body|script|svg|iframe|object|embed|stylesheet))[\s>/]|<\?xml-stylesheet|www\.w3\.org\/(?:1999\/xhtml|2000\/svg)/i;
const NOT_TEXT = /[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]/;

/** Looks at the first 4 KiB at most. */
export function mediaTypeOf(head: Uint8Array): ArtifactMediaType {
  const bytes = Buffer.from(head.subarray(0, HEAD_BYTES));
  const known = signatures.find(([pattern]) => pattern.test(bytes.toString('latin1')));
  if (known) return known[1];
  const text = textOf(bytes);
  if (text === null) return 'application/octet-stream';
  if (ACTIVE.test(text)) return 'text/plain';
  if (/^\s*[{[]/.test(text)) return 'application/json';
  return /^\s*<(?:\?xml\s|[a-z_][\w.:-]*[\s>/])/i.test(text) ? 'application/xml' : 'text/plain';
}

function textOf(bytes: Buffer): string | null {
  try {
    // `stream` tolerates a last character that was cut off.
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true });
    return text === '' || NOT_TEXT.test(text) ? null : text;
  } catch {
    return null;
  }
}
