import { type Check, isTest, isTypeScript, lineAt } from './sources.ts';

const CAST = /\bas (?:never|unknown as)\b/g;
const REASON = /^\s*\/\/ cast: \S.{10,}/;

/** Casts that switch the compiler off have hidden real defects. Each needs a reason on the line above: `// cast: <why the type cannot be expressed>`. */
export const casts: Check = (sources) =>
  sources
    .filter((source) => isTypeScript(source) && !isTest(source) && !source.path.startsWith('checks/'))
    .flatMap(({ path, text }) => {
      const lines = text.split('\n');
      return [...text.matchAll(CAST)].flatMap(({ index, 0: cast }) => {
        const line = lineAt(text, index);
        if (/^\s*(\/?\*|\/\/)/.test(lines[line - 1] ?? '') || REASON.test(lines[line - 2] ?? '')) return [];
        return [{ path, line, message: `\`${cast}\` needs a reason on the line above: // cast: …` }];
      });
    });
