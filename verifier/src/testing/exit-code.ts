import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { main } from '../cli/cli.ts';
import { keyListOf, testKeys } from './build.ts';

/** Runs `rrs-verify` on packages in a folder of the test. */
export async function useProgram() {
  const folder = mkdtempSync(join(tmpdir(), 'rrs-exit-code-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const written = (name: string, content: string | Uint8Array): string => {
    writeFileSync(join(folder, name), content);
    return join(folder, name);
  };
  const keys = await testKeys();
  const list = JSON.stringify(keyListOf(keys));
  const keysFile = written('keys.json', list);
  return {
    keys,
    /** The published list of the keys. */
    list,
    keysFile,
    written,
    async exitCode(content: Uint8Array, args: readonly string[] = ['--keys', keysFile]): Promise<number> {
      return main([written('package.zip', content), ...args], { out: () => {}, err: () => {}, color: false });
    },
  };
}
