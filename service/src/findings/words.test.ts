import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FilterBody } from './schemas-bulk.ts';
import { queryWords, splitWords } from './words.ts';

/** Matches like the index. */
const finds = (query: string, stored: readonly string[]): boolean =>
  queryWords(query).every(({ whole, parts }) => stored.includes(whole) || (parts.length > 0 && parts.every((part) => stored.includes(part))));

describe('the words of a text', () => {
  it.each([
    ['log4j-core: RCE', ['log4j-core', 'rce', 'log4j', 'core']],
    ['https://git.example.com/shop/', ['https://git.example.com/shop', 'https', 'git', 'example', 'com', 'shop']],
    ['(see openssl.)', ['see', 'openssl']],
    ['c-ares -- a resolver', ['c-ares', 'resolver', 'ares']],
    ['Größe: größe-klein/', ['größe', 'größe-klein', 'klein']],
    ['!&|', []],
  ])('of %j', (text, words) => {
    expect(splitWords(text)).toEqual(words);
  });
});

describe('a search', () => {
  const title = 'log4j-core: RCE in https://git.example.com/shop and registry.example.com/team/app:1.4';
  it.each(['log4j-core', 'LOG4J', 'core:', 'git.example.com', 'registry.example.com', 'example.com/shop', 'app:1.4', 'rce log4j-core', 'git.example.com/'])(
    'for %j finds it',
    (query) => {
      expect(finds(query, splitWords(title))).toBe(true);
    },
  );

  it.each(['log4j-api', 'git.example.org', 'log4j-core xss', 'x'.repeat(150)])('for %j does not', (query) => {
    expect(finds(query, splitWords(title))).toBe(false);
  });

  it('finds a word that was stored with a trailing separator', () => {
    expect(finds('log4j-core', ['log4j-core:', 'log4j', 'core'])).toBe(true);
  });

  it('finds a text by any sequence of its words', () => {
    const text = fc.array(fc.stringMatching(/^[a-zé0-9]{2,8}([._@/:-]{1,2}[a-zé0-9]{1,8}){0,3}[:./]?$/), { minLength: 1, maxLength: 6 });
    fc.assert(fc.property(text, fc.nat(), (words, at) => finds(words.slice(at % words.length).join(' '), splitWords(words.join(' ')))));
  });

  it('without a word finds nothing, and the schema rejects most of them', () => {
    const { pattern } = FilterBody.properties.q as unknown as { pattern: string };
    const wordless = fc.oneof(fc.stringMatching(/^[!&|:./ -]{0,9}$/), fc.constantFrom('a', 'c: d', 'x.', 'ä/'));
    fc.assert(fc.property(wordless, (query) => !finds(query, splitWords(title)) && !new RegExp(pattern, 'u').test(query)));
    expect(finds('\u0130\u0130', splitWords(title))).toBe(false);
    expect(['c-d', 'go', 'äö', ' 42 '].every((query) => new RegExp(pattern, 'u').test(query))).toBe(true);
  });
});
