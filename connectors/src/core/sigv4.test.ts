import { expect, it } from 'vitest';
import { awsEncoded, type Signing, signedHeaders } from './sigv4.ts';

/** Expected values are from AWS: the guide on signed requests, the Signature Version 4 test suite and the S3 examples. */

const suite: Signing = {
  keys: { access_key_id: 'AKIDEXAMPLE', secret_access_key: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY' },
  region: 'us-east-1',
  service: 'service',
  at: new Date('2015-08-30T12:36:00Z'),
};
const s3: Signing = {
  keys: { access_key_id: 'AKIAIOSFODNN7EXAMPLE', secret_access_key: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY' },
  region: 'us-east-1',
  service: 's3',
  at: new Date('2013-05-24T00:00:00Z'),
};
const get = (url: string) => ({ method: 'GET', url: new URL(url), body: undefined });

it('signs the request of the AWS guide', () => {
  const request = get('https://iam.amazonaws.com/?Action=ListUsers&Version=2010-05-08');
  const headers = { 'content-type': 'application/x-www-form-urlencoded; charset=utf-8' };
  expect(signedHeaders(request, { ...suite, service: 'iam' }, headers).authorization).toBe(
    'AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/iam/aws4_request, SignedHeaders=content-type;host;x-amz-date, ' +
      'Signature=5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7',
  );
});

it('signs requests with and without a body as in the test suite', () => {
  expect(signedHeaders(get('https://example.amazonaws.com/'), suite)).toEqual({
    'x-amz-date': '20150830T123600Z',
    authorization: expect.stringContaining('Signature=5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31'),
  });
  const post = { method: 'POST', url: new URL('https://example.amazonaws.com/'), body: 'Param1=value1' };
  expect(signedHeaders(post, suite, { 'content-type': 'application/x-www-form-urlencoded' }).authorization).toContain(
    'Signature=ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a',
  );
});

it('sorts the query parameters by name', () => {
  expect(signedHeaders(get('https://example.amazonaws.com/?Param2=value2&Param1=value1'), suite).authorization).toContain(
    'Signature=b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500',
  );
});

it('signs a list request and a range request as in the S3 examples', () => {
  const list = signedHeaders(get('https://examplebucket.s3.amazonaws.com/?max-keys=2&prefix=J'), s3);
  expect(list['x-amz-content-sha256']).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
  expect(list.authorization).toContain('Signature=34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7');
  expect(signedHeaders(get('https://examplebucket.s3.amazonaws.com/test.txt'), s3, { range: 'bytes=0-9' }).authorization).toContain(
    'Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41',
  );
});

it('sends and signs the session token of temporary credentials', () => {
  const temporary = { ...suite, keys: { ...suite.keys, session_token: 'a-token' } };
  const headers = signedHeaders(get('https://example.amazonaws.com/'), temporary);
  expect(headers).toMatchObject({
    'x-amz-security-token': 'a-token',
    authorization: expect.stringContaining('SignedHeaders=host;x-amz-date;x-amz-security-token'),
  });
});

it('percent-encodes as AWS requires', () => {
  expect(awsEncoded("a b/c+d~e'(f)*!")).toBe('a%20b%2Fc%2Bd~e%27%28f%29%2A%21');
});
