import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ReportError, type RunFact, type RunFacts } from './contract.ts';
import { detectFormat, headOf } from './detect.ts';
import { fromBuffer } from './shared/input.ts';
import { missingFacts, type OracleEntry } from './testing/corpus-oracle.ts';
import { type FormatFolder, formatFolders } from './testing/format-folders.ts';
import { readAll } from './testing/reading.ts';

/** Real reports next to the checkout. Without them, only the fixtures of each format are tested. */
const SHARED = join(import.meta.dirname, '../../../shared');
const present = existsSync(join(SHARED, 'oracle-dev.json'));
const entries = present ? (JSON.parse(readFileSync(join(SHARED, 'oracle-dev.json'), 'utf8')) as { entries: OracleEntry[] }).entries : [];
const folders = await formatFolders();
const formats = folders.map(({ format }) => format);

if (!present) process.stderr.write('The corpus of real reports (../shared) was not found. Its tests are skipped.\n');

const STATED: Readonly<Record<RunFact, (run: RunFacts) => boolean>> = {
  time: ({ started_at, finished_at }) => started_at !== undefined || finished_at !== undefined,
  credentials: ({ credentialed }) => credentialed !== undefined,
  knowledge: ({ knowledge, knowledge_at }) => knowledge !== undefined || knowledge_at !== undefined,
  checks: ({ checks }) => checks !== undefined,
  targets: ({ asset }) => asset !== undefined,
};

describe.runIf(present).each(folders.filter(({ corpus }) => corpus !== null))('$id', ({ format, corpus }) => {
  const own = entries.filter((entry) => corpus?.folders.includes(entry.format));
  const files = [...new Set(own.map(({ file }) => file))];

  test.each(files)('%s', async (file) => {
    const input = fromBuffer(readFileSync(join(SHARED, 'scans', file)), file.split('/').at(-1) ?? null);
    if (corpus?.refused?.[file]) {
      await expect(readAll(format, input)).rejects.toThrow(ReportError);
      return;
    }
    const fileEntries = own.filter((entry) => entry.file === file);
    if (fileEntries.some(({ expects_error, error_observed }) => expects_error || error_observed)) {
      const outcome = await readAll(format, input).then(
        ({ observations }) => observations.length,
        (error: unknown) => error,
      );
      if (outcome !== 0) expect(outcome).toBeInstanceOf(ReportError);
      return;
    }
    const { observations, rejections, runs } = await readAll(format, input);
    const excused = (corpus?.unstated ?? []).filter(({ files: excusedFiles }) => excusedFiles.test(file)).map(({ fact }) => fact);
    const unstated = (format.states ?? []).filter((fact) => !excused.includes(fact) && !runs.some(STATED[fact]));
    expect(unstated).toEqual([]);
    const count = expectedCount(file, fileEntries, corpus);
    const records = corpus?.countsPositions ? new Set(observations.map(({ place }) => place)).size : observations.length;
    if (count !== null) expect(records, `${rejections.length} rejected: ${JSON.stringify(rejections.slice(0, 3))}`).toBe(count);
    if (observations.length > 0) expect(detectFormat(formats, await headOf(input))?.id).toBe(format.id);
    const mismatches = fileEntries.flatMap((entry) => {
      const ignored = new Set(
        (corpus?.differs ?? []).filter(({ files: affected }) => affected === undefined || affected.includes(file)).map(({ field }) => field),
      );
      return entry.examples.flatMap((example) => {
        const fields = missingFacts(example, observations, ignored);
        return fields === null ? [] : [{ example, fields }];
      });
    });
    expect(mismatches).toEqual([]);
  });
});

function expectedCount(file: string, fileEntries: readonly OracleEntry[], corpus: FormatFolder['corpus']): number | null {
  const exception = corpus?.exceptions?.[file];
  if (exception) return exception.count;
  const plain = fileEntries.filter(({ mode, parser_args }) => mode === undefined && parser_args === undefined);
  const findings = plain.map((entry) => entry.findings ?? entry.findings_observed).find((count) => count !== undefined && count !== null) ?? null;
  const raw = fileEntries.map(({ raw_items }) => raw_items).find((count) => count !== null) ?? null;
  return corpus?.unit === 'raw_items' ? (raw ?? findings) : (findings ?? raw);
}
