import { detectFormat, formats, fromBuffer, headOf } from '@rrs/scan-reports';
import { expect, test } from 'vitest';
import { fullSize, tagOf, type World, worldOf } from '../company/world.ts';
import { gitleaksReport, semgrepReport } from './code.ts';
import { grypeReport, trivyReport } from './images.ts';
import { nessusReport, zapReport } from './network.ts';

const at = new Date('2026-05-04T06:00:00Z');

function reportsOf({ images, repositories, hosts, websites }: World, week: number): Record<string, string[]> {
  return {
    trivy: images.map((image) => trivyReport({ image, tag: tagOf(week), week, at })),
    grype: images.map((image) => grypeReport({ image, tag: tagOf(week), week, at })),
    semgrep: repositories.map((repository) => semgrepReport({ repository, week })),
    gitleaks: repositories.map((repository) => gitleaksReport({ repository, week })),
    nessus: [nessusReport({ hosts, week, at })],
    zap: websites.map((website) => zapReport({ website, week, at })),
  };
}

async function countFindings(format: string, text: string): Promise<number> {
  const input = fromBuffer(text);
  // A run without secrets is a file with "[]", which any tool could have written.
  if (text !== '[]') expect(detectFormat(formats, await headOf(input))?.id, `${text.slice(0, 200)}`).toBe(format);
  let findings = 0;
  for await (const entry of formats.find(({ id }) => id === format)?.read(input) ?? []) {
    expect(entry).not.toHaveProperty('rejection');
    if ('observation' in entry) findings++;
  }
  return findings;
}

test('every tool writes reports that the service reads without rejected records', async () => {
  const world = worldOf({ weeks: 3, share: 0.15 });
  for (const week of [0, 2]) {
    for (const [format, texts] of Object.entries(reportsOf(world, week))) {
      for (const text of texts) if (text !== '[]') expect(await countFindings(format, text), format).toBeGreaterThan(0);
    }
  }
});

test('the company has 40 assets and about 4,000 findings in its first week, and is the same for the same seed', async () => {
  const world = worldOf(fullSize);
  expect(worldOf(fullSize)).toEqual(world);
  expect(worldOf(fullSize, 2)).not.toEqual(world);
  const { images, repositories, hosts, websites } = world;
  expect(images.length + repositories.length + hosts.length + websites.length).toBe(40);
  const { grype: _, ...first } = reportsOf(world, 0);
  let findings = 0;
  for (const [format, texts] of Object.entries(first)) for (const text of texts) findings += await countFindings(format, text);
  expect(findings).toBeGreaterThan(3_700);
  expect(findings).toBeLessThan(4_700);
});

test('things are mended and become known from week to week', () => {
  const { images } = worldOf(fullSize);
  const idsIn = (week: number): (string | undefined)[] =>
    images.flatMap((image) => [...trivyReport({ image, tag: 'x', week, at }).matchAll(/"VulnerabilityID":"([^"]+)"/g)].map(([, id]) => `${image.name} ${id}`));
  const [first, last] = [new Set(idsIn(0)), new Set(idsIn(7))];
  expect([...first].filter((id) => !last.has(id)).length).toBeGreaterThan(100);
  expect([...last].filter((id) => !first.has(id)).length).toBeGreaterThan(100);
});
