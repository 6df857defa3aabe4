import { type Check, lineAt } from './sources.ts';

const NAMED = /`([\w./-]+\.test\.ts)`/g;

/** SECURITY.md says which test shows each protection. A test that was renamed or deleted shows nothing. */
export const namedTests: Check = (sources) =>
  sources
    .filter(({ path }) => path === 'SECURITY.md')
    .flatMap(({ path, text }) =>
      [...text.matchAll(NAMED)]
        .filter(([, name]) => !sources.some((source) => source.path === name || source.path.endsWith(`/${name}`)))
        .map((match) => ({ path, line: lineAt(text, match.index), message: `there is no test ${match[1]}` })),
    );
