import { existsSync, readdirSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { assetTypes, type Observation, ReportError, type RunFacts, runFacts, severities } from './contract.ts';
import { detectFormat, headOf } from './detect.ts';
import { formats } from './registry.ts';
import { fromBuffer } from './shared/input.ts';
import { readFixtures } from './testing/fixtures.ts';
import { formatFolders } from './testing/format-folders.ts';
import { readAll } from './testing/reading.ts';

const folders = await formatFolders();

test('every format folder is registered once, under its own name', () => {
  expect(formats.map(({ id }) => id).sort()).toEqual(folders.map(({ id }) => id).sort());
});

describe.each(folders)('$id', ({ id, format }) => {
  const fixtures = readFixtures(id);

  test('has texts for users, fixtures and a test', () => {
    expect(format.name.length).toBeGreaterThan(1);
    expect(format.description.length).toBeGreaterThan(10);
    expect(format.expects.length).toBeGreaterThan(10);
    if (format.documentation.startsWith('docs/')) expect(existsSync(new URL(`../../${format.documentation}`, import.meta.url))).toBe(true);
    else expect(format.documentation).toMatch(/^https:\/\//);
    expect(assetTypes).toContain(format.assetType);
    for (const fact of format.states ?? []) expect(runFacts).toContain(fact);
    expect(fixtures.length).toBeGreaterThan(0);
    expect(readdirSync(new URL(`./formats/${id}/`, import.meta.url))).toContain(`${id.replaceAll('_', '-')}.test.ts`);
  });

  test.each(fixtures)('detects and reads $name', async ({ bytes, name }) => {
    const input = fromBuffer(bytes, name);
    const { observations, runs } = await readAll(format, input);
    for (const run of runs) expectSoundRun(run);
    if (/empty|none/.test(name)) return;
    expect(detectFormat(formats, await headOf(input))?.id).toBe(id);
    expect(observations.length).toBeGreaterThan(0);
    expectSound(observations);
  });

  const readAbout = format.about;
  if (readAbout)
    test('about returns what the contract defines and fails only where read fails', async () => {
      for (const { bytes, name } of fixtures) {
        const about = await readAbout(fromBuffer(bytes, name));
        const { assetType = format.assetType, part: _part, skipped: _skipped, ...rest } = about;
        expect(assetTypes).toContain(assetType);
        expect(Object.keys(rest).sort()).toEqual(['finished', 'tools', 'unread']);
        expect(about.tools === null || about.tools.every((tool) => tool !== '' && tool === tool.toLowerCase())).toBe(true);
        expect(typeof about.finished).toBe('boolean');
        expect(about.unread.every((path) => typeof path === 'string' && path !== '' && !path.includes('\\'))).toBe(true);
      }
      for (const foreign of ['', 'hello', '<a/>', '<a>', '[]', '[{"a":1}]', '{}', '{"a":']) {
        const failure = (reading: Promise<unknown>): Promise<unknown> => reading.then(() => null, String);
        const refusal = await failure(readAbout(fromBuffer(foreign)));
        if (refusal !== null) expect(refusal, foreign).toBe(await failure(readAll(format, fromBuffer(foreign))));
      }
    });

  test.each(fixtures)('reads $name the same way twice and in small chunks', async ({ bytes, name }) => {
    const whole = await readAll(format, fromBuffer(bytes, name));
    expect(await readAll(format, fromBuffer(bytes, name))).toEqual(whole);
    const inSmallChunks = {
      filename: name,
      async *open() {
        for (let at = 0; at < bytes.length; at += 7) yield bytes.subarray(at, at + 7);
      },
    };
    expect(await readAll(format, inSmallChunks)).toEqual(whole);
  });

  test.each(fixtures)('survives $name truncated or damaged', async ({ bytes, name }) => {
    for (const share of [0.25, 0.5, 0.75, 0.95]) await survives(bytes.subarray(0, Math.floor(bytes.length * share)), name);
    for (let at = 0; at < bytes.length; at += Math.max(1, Math.floor(bytes.length / 40))) {
      const damaged = Buffer.from(bytes);
      damaged[at] = (damaged[at] ?? 0) ^ 0x15;
      await survives(damaged, name);
    }
  });

  async function survives(bytes: Uint8Array, name: string): Promise<void> {
    try {
      const { observations, runs } = await readAll(format, fromBuffer(bytes, name));
      expectSound(observations);
      for (const run of runs) expectSoundRun(run);
    } catch (error) {
      expect(error, String(error)).toBeInstanceOf(ReportError);
    }
  }
});

/** One expectation for all observations: one for each of their fields would take a fifth of the time of this file. */
function expectSound(observations: readonly Observation[]): void {
  expect(observations.flatMap(faultsOf)).toEqual([]);
}

function faultsOf(observation: Observation): string[] {
  const { severity, title, tool, place, rule, vulnerability_ids, asset } = observation;
  const sound = {
    severity: severities.includes(severity),
    title: title.length > 0,
    tool: /\S/.test(tool) && tool === tool.toLowerCase(),
    place: /\S/.test(place),
    weakness: rule !== null || vulnerability_ids.length > 0,
    asset: !asset || /\S/.test(asset.name),
    characters: !JSON.stringify(observation).includes('\\u0000'),
  };
  return Object.entries(sound).flatMap(([name, isSound]) => (isSound ? [] : [`${name} of ${JSON.stringify(observation)}`]));
}

function expectSoundRun(run: RunFacts): void {
  expect(Object.keys(run).length).toBeGreaterThan(0);
  expect(Object.values(run)).not.toContain(undefined);
  if (run.asset) {
    expect(assetTypes).toContain(run.asset.type);
    expect(run.asset.name).toMatch(/\S/);
    expect(run.asset.name).not.toBe('unspecified');
  }
  for (const moment of [run.started_at, run.finished_at, run.knowledge_at]) if (moment) expect(Number.isNaN(moment.getTime())).toBe(false);
  for (const text of [run.tool_version, run.knowledge]) if (text !== undefined) expect(text).toMatch(/^\S(?:.{0,198}\S)?$/);
  for (const list of [run.checks, run.files]) {
    if (list === undefined) continue;
    expect(list.length).toBeGreaterThan(0);
    expect(new Set(list).size).toBe(list.length);
    expect(list.every((entry) => entry.trim() !== '' && !entry.includes('\\'))).toBe(true);
  }
  expect(JSON.stringify(run)).not.toContain('\\u0000');
}
