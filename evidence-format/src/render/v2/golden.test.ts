import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { bagInfoText } from '../../archive/bag.ts';
import { utf8 } from '../../bytes/bytes.ts';
import { sha256Hex } from '../../bytes/sha256.ts';
import type { Evidence } from '../../document/evidence.ts';
import { canonicalJson } from '../../json/jcs.ts';
import { sampleContext } from '../../testing/reports/evidence.ts';
import { evidenceSamples } from '../../testing/reports/samples.ts';
import { TEXT_FORMATS } from './formats.ts';
import { bagInfoOf, readmeText } from './readme.ts';

/**
 * Verifiers write the readable files again and compare bytes, so these programs must give the same bytes for ever. A change that fails here belongs in a
 * folder v3 next to this one, with `renderer: 3` in evidence.json.
 */
const golden = new URL('./golden.json', import.meta.url);

function written(): Record<string, Record<string, string>> {
  return Object.fromEntries(
    (['whitewashed', 'unfinished', 'hostile'] as const).map((name) => {
      const evidence = evidenceSamples[name]();
      const files = Object.entries(TEXT_FORMATS).map(([format, { render }]): [string, string] => [format, [...render(evidence, sampleContext)].join('')]);
      const tags: [string, string][] = [
        ['readme', readmeText(evidence, sampleContext)],
        ['bag-info', bagInfoText(bagInfoOf(evidence, { bytes: 1_234, files: 12 }))],
      ];
      return [name, Object.fromEntries([...files, ...tags].map(([format, text]) => [format, sha256Hex(utf8(text))]))];
    }),
  );
}

test('every readable file has the bytes that were frozen', () => {
  expect(written()).toEqual(JSON.parse(readFileSync(golden, 'utf8')));
});

test('the order of keys in the evidence does not matter', () => {
  for (const sample of Object.values(evidenceSamples)) {
    const evidence = sample();
    const read: Evidence = JSON.parse(canonicalJson(evidence));
    for (const { path, render } of Object.values(TEXT_FORMATS))
      expect([...render(read, sampleContext)].join(''), path).toBe([...render(evidence, sampleContext)].join(''));
  }
});

test('nothing depends on the Unicode version, the language, the clock or chance', () => {
  const folder = new URL('./', import.meta.url);
  const sources = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'));
  expect(sources.length).toBeGreaterThan(30);
  const forbidden = /Intl\b|toLocale|localeCompare|normalize\(|\\p\{[A-Z]|\\[sS](?![a-z{])|new Date|Date\.|Math\.random|new URL\(|\.trim\(|from 'node:/;
  const found = sources.flatMap((name) => {
    const code = readFileSync(new URL(name, folder), 'utf8').replaceAll(/\/\*\*.*?\*\//gs, '');
    return forbidden.test(code) ? [`${name}: ${forbidden.exec(code)?.[0]}`] : [];
  });
  expect(found).toEqual([]);
});
