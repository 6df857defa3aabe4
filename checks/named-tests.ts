import { type Check, lineAt, type Source, type Violation } from './sources.ts';

/** A file of tests, and perhaps the title of one of them. */
const NAMED = /`([\w./-]+\.test\.ts)`(?: "([^"]+)")?/g;
const SHOWING = /\b(?:tested|shown) by \|$/;
/** A test, a document, or the reason why there is neither. */
const SHOWN = /\.test\.ts`|\]\([\w./-]+\)|\| Not applicable: /;

/** SECURITY.md says which test shows each protection. A test that was renamed or deleted shows nothing. */
export const namedTests: Check = (sources) =>
  sources.filter(({ path }) => path === 'SECURITY.md').flatMap((security) => [...missingTests(security, sources), ...rowsWithoutTest(security)]);

function* missingTests({ path, text }: Source, sources: readonly Source[]): Generator<Violation> {
  for (const match of text.matchAll(NAMED)) {
    const [, name = '', title] = match;
    const line = lineAt(text, match.index);
    const files = sources.filter((source) => source.path === name || source.path.endsWith(`/${name}`));
    if (files.length === 0) yield { path, line, message: `there is no test ${name}` };
    else if (files.length > 1) yield { path, line, message: `${name} can be ${files.map((file) => file.path).join(' or ')}` };
    else if (title !== undefined && !files.some((file) => file.text.includes(title))) yield { path, line, message: `${name} has no test "${title}"` };
  }
}

function* rowsWithoutTest({ path, text }: Source): Generator<Violation> {
  let isShowing = false;
  for (const [index, line] of text.split('\n').entries()) {
    const isRow = line.startsWith('|') && !line.startsWith('| -');
    if (isShowing && isRow && !SHOWN.test(line)) yield { path, line: index + 1, message: 'the row names neither a test nor a document nor why there is none' };
    isShowing = line.startsWith('|') && (isShowing || SHOWING.test(line.replaceAll(/ +/g, ' ')));
  }
}
