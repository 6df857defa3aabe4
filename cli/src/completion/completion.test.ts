import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { printed } from '../testing/printed.ts';

let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'rrs-completion-'));
  for (const shell of ['bash', 'zsh', 'fish']) {
    const { code, out } = await printed('completion', shell);
    expect(code).toBe(0);
    writeFileSync(join(folder, shell), out);
  }
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const PATH = '/usr/local/bin:/usr/bin:/bin:/opt/homebrew/bin';
const isInstalled = (shell: string): boolean => spawnSync(shell, ['-c', 'exit 0']).status === 0;

/** What each shell offers after a line, from the shell itself. */
const offers: Readonly<Record<string, (line: string) => string[]>> = {
  bash: (line) => {
    const words = line.split(' ');
    const program = `source "$0"; COMP_WORDS=(${words.map((word) => `"${word}"`).join(' ')}); COMP_CWORD=${words.length - 1}; _rrs; printf '%s\\n' "\${COMPREPLY[@]}"`;
    return execFileSync('bash', ['-c', program, join(folder, 'bash')], { encoding: 'utf8' }).split('\n');
  },
  fish: (line) =>
    execFileSync('fish', ['-c', `source ${join(folder, 'fish')}; complete -C "${line}"`], { encoding: 'utf8', env: { PATH, HOME: folder } })
      .split('\n')
      .map((offer) => offer.split('\t')[0] ?? ''),
  // zsh completes only at a prompt, so one is opened on a pseudo-terminal. All candidates are shown at once.
  zsh: (line) => {
    // The quotes keep the echo of what is typed from looking like the answer. `zle -R` shows the list although more input waits.
    const program = `zmodload zsh/zpty; zpty shell zsh -f -i
zpty -w shell "autoload -U compinit; compinit -u -d ${folder}/dump; LISTMAX=10000; source ${folder}/zsh; stty columns 200 rows 400; PS1="
zpty -w shell "show() { zle list-choices; zle -R; print comple''ted }; zle -N show; bindkey '^X' show; echo sour''ced"
zpty -r -m shell before '*sourced*'
zpty -n -w shell "${line}"$'\\030'
zpty -r -m shell shown '*completed*'; print -r -- $shown; zpty -d shell`;
    const shown = execFileSync('zsh', ['-f', '-c', program], {
      encoding: 'utf8',
      env: { PATH, HOME: folder, TERM: 'dumb' },
      timeout: 20_000,
    });
    // biome-ignore lint/suspicious/noControlCharactersInRegex: what a terminal interprets is left out
    return shown.replaceAll(/\u001b\[[\d;?]*[A-Za-z]/g, '').split(/[\s"';]+/);
  },
};

describe.each(Object.keys(offers))('in %s', (shell) => {
  const offered = (line: string): string[] => offers[shell]?.(line) ?? [];

  it.skipIf(!isInstalled(shell))('commands, their second words, options and values are completed', () => {
    expect(offered('rrs ')).toEqual(expect.arrayContaining(['import', 'gate', 'findings', 'evidence', 'completion']));
    expect(offered('rrs evidence ')).toEqual(expect.arrayContaining(['seal', 'download', 'share', 'verify']));
    expect(offered('rrs evidence ')).not.toContain('triage');
    expect(offered('rrs gate --f')).toEqual(expect.arrayContaining(['--fail-on', '--format']));
    expect(offered('rrs findings export --format ')).toEqual(expect.arrayContaining(['csv', 'sarif', 'openvex']));
    expect(offered('rrs completion ')).toEqual(expect.arrayContaining(['bash', 'zsh', 'fish']));
  });
});
