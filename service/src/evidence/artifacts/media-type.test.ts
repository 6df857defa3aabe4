import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { artifactMediaTypes, mediaTypeOf } from './media-type.ts';

const hex = (text: string): Buffer => Buffer.from(text.replaceAll(' ', ''), 'hex');

it.each<[string, string | Buffer, string]>([
  ['PDF', '%PDF-1.7\n%âãÏÓ', 'application/pdf'],
  ['PNG', hex('89504e47 0d0a1a0a 0000000d'), 'image/png'],
  ['JPEG', hex('ffd8ffe0 0010'), 'image/jpeg'],
  ['GIF', 'GIF89a\u0001', 'image/gif'],
  ['WEBP', Buffer.concat([Buffer.from('RIFF'), hex('0a0d0000'), Buffer.from('WEBPVP8 ')]), 'image/webp'],
  ['another RIFF', Buffer.concat([Buffer.from('RIFF'), hex('01020304'), Buffer.from('WAVEfmt ')]), 'application/octet-stream'],
  ['ZIP', hex('504b0304 14000000'), 'application/zip'],
  ['an empty ZIP', hex('504b0506 00000000'), 'application/zip'],
  ['gzip', gzipSync('x'), 'application/gzip'],
  ['a JSON object', ' \n{"a": 1}', 'application/json'],
  ['a JSON array behind a byte order mark', '\ufeff[1]', 'application/json'],
  ['XML', '<?xml version="1.0"?><report/>', 'application/xml'],
  ['XML without a declaration', '<report>\n</report>', 'application/xml'],
  ['text', 'it was fixed\r\n\tyesterday', 'text/plain'],
  ['text that begins with <', '< 5 findings', 'text/plain'],
  ['text cut within a character', Buffer.from(`${'a'.repeat(4095)}ä`), 'text/plain'],
  ['Latin-1', Buffer.from('gr\xfcn', 'latin1'), 'application/octet-stream'],
  ['text with a zero byte', 'a\u0000b', 'application/octet-stream'],
  ['nothing', '', 'application/octet-stream'],
  ['HTML', '<!DOCTYPE html><html>', 'text/plain'],
  ['HTML without a head', '  <script>alert(1)</script>', 'text/plain'],
  ['SVG', '<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>', 'text/plain'],
  ['SVG in XML', '<?xml version="1.0"?>\n<!-- x --><s:svg xmlns:s="http://www.w3.org/2000/svg"/>', 'text/plain'],
  ['XHTML under another root', '<?xml version="1.0"?><a xmlns:h="http://www.w3.org/1999/xhtml"><h:b/></a>', 'text/plain'],
  ['XML with a stylesheet', '<?xml version="1.0"?><?xml-stylesheet href="x.xsl"?><a/>', 'text/plain'],
])('%s', (_, content, expected) => {
  expect(mediaTypeOf(Buffer.from(content as string))).toBe(expected);
});

it('assigns one of its types to any bytes and looks only at their beginning', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 5_000 }), fc.uint8Array({ maxLength: 100 }), (bytes, more) => {
      const type = mediaTypeOf(bytes);
      expect(artifactMediaTypes).toContain(type);
      if (bytes.length >= 4096) expect(mediaTypeOf(Buffer.concat([bytes, more]))).toBe(type);
    }),
  );
});
