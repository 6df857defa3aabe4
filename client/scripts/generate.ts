import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type Description, generate } from './operations.ts';

const folder = new URL('../src/', import.meta.url);

export function readDescription(): Description {
  return JSON.parse(readFileSync(new URL('../../service/openapi.json', import.meta.url), 'utf8')) as Description;
}

/** The files of the client that are generated from the description, with their texts. */
export function generated(description: Description): { file: URL; text: string }[] {
  const biome = createRequire(import.meta.url).resolve('@biomejs/biome/bin/biome');
  return Object.entries(generate(description)).map(([name, input]) => {
    const file = new URL(name, folder);
    const text = execFileSync(process.execPath, [biome, 'format', `--stdin-file-path=${file.pathname}`], { input, encoding: 'utf8', maxBuffer: 1e8 });
    return { file, text };
  });
}

if (import.meta.main) for (const { file, text } of generated(readDescription())) writeFileSync(file, text);
