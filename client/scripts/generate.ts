import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type Description, generate } from './operations.ts';

const target = new URL('../src/api.ts', import.meta.url);

export function readDescription(): Description {
  return JSON.parse(readFileSync(new URL('../../service/openapi.json', import.meta.url), 'utf8')) as Description;
}

export function formatted(description: Description): string {
  const biome = createRequire(import.meta.url).resolve('@biomejs/biome/bin/biome');
  return execFileSync(process.execPath, [biome, 'format', `--stdin-file-path=${target.pathname}`], {
    input: generate(description),
    encoding: 'utf8',
    maxBuffer: 1e8,
  });
}

/** Writes the types of the API from its description. */
if (import.meta.main) writeFileSync(target, formatted(readDescription()));
