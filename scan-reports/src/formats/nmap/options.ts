import { str } from '../../shared/read.ts';

/** The category of all scripts that look for weaknesses, and names for all scripts. */
const ALL = ['vuln', 'all', '*'];
/** They report no weaknesses. */
const DEFAULT = 'default';

/**
 * What the command line says about weaknesses that the scan can have missed. A script that did not run finds nothing, `vulners` needs to know the versions of
 * services, and `mincvss` leaves out low scores. Other arguments of scripts can be passwords.
 */
export function restrictionsIn(args: string | undefined): string[] {
  if (str(args) === undefined) return [];
  const words = wordsOf(args ?? '');
  const scripts = [...new Set(valuesOf(words, '--script').flatMap(scriptNames))].filter((script) => script !== DEFAULT).sort();
  const minimum = /\bmincvss=["']?([\d.]+)/.exec(valuesOf(words, '--script-args').join(','))?.[1];
  return [
    ...(scripts.some((script) => ALL.includes(script)) ? [] : [scripts.length > 0 ? `--script ${scripts.join(',')}` : 'without scripts']),
    ...(words.some((word) => /^-(?:A$|s[A-UW-Z]*V)/.test(word)) ? [] : ['without -sV']),
    ...(minimum === undefined || Number(minimum) === 0 ? [] : [`mincvss=${minimum}`]),
  ];
}

const MAX_ARGS = 10_000;

/** A word can be in quotation marks: `--script "vuln and safe"`. Long options can begin with a single hyphen. */
function wordsOf(args: string): string[] {
  return (args.slice(0, MAX_ARGS).match(/(?:[^\s"']|"[^"]*"|'[^']*')+/g) ?? []).map((word) => word.replaceAll(/["']/g, '').replace(/^-(?=script)/, '--'));
}

/** `--script vulners` or `--script=vulners`. */
function valuesOf(words: readonly string[], option: string): string[] {
  return words.flatMap((word, at) => (word === option ? (words[at + 1] ?? []) : word.startsWith(`${option}=`) ? word.slice(option.length + 1) : []));
}

/** "nmap-vulners/vulners.nse" is the script `vulners` of another folder, and "+" runs it where it would not run otherwise. */
function scriptNames(list: string): string[] {
  return list.split(',').flatMap((script) => {
    const name = script
      .trim()
      .replace(/^\+/, '')
      .split('/')
      .at(-1)
      ?.replace(/\.nse$/, '');
    return name ? [name] : [];
  });
}
