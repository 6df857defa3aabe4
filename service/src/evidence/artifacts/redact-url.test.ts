import fc from 'fast-check';
import { expect, it } from 'vitest';
import { redactUrl } from './redact-url.ts';

it.each([
  'https://git.example.com/shop/pulls/17',
  'https://jira.example.com/browse/OPS-12?focusedId=9&page=2#comment-3',
  'https://ci.example.com/job/5?commit=9fceb02d0ae598e95dc970b74767f19372d61af8',
  'http://wiki.example.com/a%20b?state=closed&q=is%3Aopen',
])('leaves %s unchanged', (url) => {
  expect(redactUrl(url)).toEqual({ url, redactions: [] });
});

it.each<[string, string, string]>([
  ['https://ada:hunter2@git.example.com/x', 'https://git.example.com/x', 'user name and password'],
  ['https://hunter2@git.example.com/x', 'https://git.example.com/x', 'user name and password'],
  ['https://x.example/a?private_token=hunter2&page=2', 'https://x.example/a?private_token=REDACTED&page=2', 'query parameters private_token'],
  ['https://x.example/a?X-Amz-Signature=hunter2', 'https://x.example/a?X-Amz-Signature=REDACTED', 'X-Amz-Signature'],
  ['https://x.example/a?API_KEY=hunter2', 'https://x.example/a?API_KEY=REDACTED', 'API_KEY'],
  ['https://x.example/a?v=ghp_hunter2', 'https://x.example/a?v=REDACTED', 'parameters v'],
  ['https://x.example/a?v=eyJhbGciOi.eyJzdWIi.c2ln', 'https://x.example/a?v=REDACTED', 'parameters v'],
  ['https://x.example/a?v=AIzaSyD4hunter2hunter2HUNTER', 'https://x.example/a?v=REDACTED', 'parameters v'],
  ['https://x.example/a?token=hunter2&token=hunter2', 'https://x.example/a?token=REDACTED', 'token'],
  ['https://x.example/a#access_token=hunter2&b=1', 'https://x.example/a#access_token=REDACTED&b=1', 'fragment parameters access_token'],
])('redacts %s and reports it', (given, kept, reason) => {
  expect(redactUrl(given)).toEqual({ url: kept, redactions: [{ pointer: '/url', reason: expect.stringContaining(reason) }] });
});

it.each(['ftp://x.example/a', 'javascript:alert(1)', 'data:text/html,x', 'file:///etc/passwd', 'x.example/a', '', 'https://'])('rejects %j', (text) => {
  expect(redactUrl(text)).toBeNull();
});

it('removes a secret wherever it is in the URL and is idempotent', () => {
  const secret = fc.stringMatching(/^hunter2[a-z0-9]{8,20}$/);
  const place = fc.constantFrom(
    'https://u:%@x.example/',
    'https://%@x.example/',
    'https://x.example/?a=1&password=%',
    'https://x.example/?auth=%#b',
    'https://x.example/#id_token=%',
  );
  fc.assert(
    fc.property(secret, place, (value, pattern) => {
      const redacted = redactUrl(pattern.replace('%', value));
      expect(JSON.stringify(redacted)).not.toContain(value);
      expect(redacted?.redactions).toHaveLength(1);
      expect(redactUrl(redacted?.url ?? '')?.url).toBe(redacted?.url);
    }),
  );
});
