import { type Check, isTest, isTypeScript, lineAt } from './sources.ts';

const TRANSACTION = /\.with(?:Tenant|System)\(/g;
const BRACKETS: Readonly<Record<string, number>> = { '(': 1, '[': 1, '{': 1, ')': -1, ']': -1, '}': -1 };
/** A variable that is assigned, counted or added to. Not a property in an object, and not a type. */
const CHANGE =
  /(?<![\w.$])([a-z_$][\w$]*)(?:\.[\w$]+)*(?:\.(?:push|unshift|splice|add|set|delete|inc|observe|emit|drain\w*)\(|\+\+|--|\s*(?:\?\?|\|\||[-+*])?=(?![=>]))/gi;
/** What is no variable of the program, or refuses to be used in a transaction by itself. */
const OTHERS = ['tx', 'null', 'undefined', 'blobs'];
const DECLARATIONS = [/\b(?:const|let)\s+([\w$]+|[[{][^=]*?[\]}])/g, /\(([^()]*)\)\s*(?::[^=;]+)?=>/g, /\b([\w$]+)\s*=>/g];

/**
 * A transaction that does not get its locks is rolled back and runs again. What it changed outside of the database stays, and is then changed twice. Calls of
 * other systems are refused when they happen (`db/transaction-scope.ts`). This finds changed variables, in the functions that are passed to transactions.
 */
export const repeatableTransactions: Check = (sources) =>
  sources
    .filter((source) => isTypeScript(source) && !isTest(source) && source.path.startsWith('service/src/'))
    .flatMap(({ path, text: original }) => {
      const text = withoutTexts(original);
      return [...text.matchAll(TRANSACTION)].flatMap(({ index, 0: { length } }) => {
        const body = bracketed(text, index + length);
        const own = new Set(DECLARATIONS.flatMap((one) => [...body.matchAll(one)].flatMap(([, names = '']) => names.match(/[\w$]+/g) ?? [])));
        return [...body.matchAll(CHANGE)]
          .filter(([, name = '']) => !own.has(name) && !OTHERS.includes(name))
          .map(({ index: at, 1: name }) => ({
            path,
            line: lineAt(text, index + length + at),
            message: `a transaction that runs again changes \`${name}\` again: return it, and change it after the transaction`,
          }));
      });
    });

/** Up to the bracket that closes the one before `from`. */
function bracketed(text: string, from: number): string {
  let depth = 1;
  for (let at = from; at < text.length; at++) {
    depth += BRACKETS[text[at] ?? ''] ?? 0;
    if (depth === 0) return text.slice(from, at);
  }
  return '';
}

/** Comments and texts, among them SQL, become blanks. Lines stay. */
function withoutTexts(text: string): string {
  return text.replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`/g, (found) => found.replaceAll(/[^\n]/g, ' '));
}
