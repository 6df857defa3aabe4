import { dirname } from 'node:path/posix';
import { type Check, isTest, isTypeScript } from './sources.ts';

const MAX_FILES = 15;
const MAX_LINES = 300;

/** A folder that fits on one screen: at most 15 sources, not counting tests, routes and schemas. */
export const folderSizes: Check = (sources) => {
  const folders = Map.groupBy(
    sources.filter((source) => isTypeScript(source) && !isTest(source) && !/\/(?:routes|schemas)[a-z-]*\.ts$/.test(source.path)),
    ({ path }) => dirname(path),
  );
  return [...folders].flatMap(([path, files]) =>
    files.length > MAX_FILES ? [{ path, line: 1, message: `${files.length} source files; split the folder by task (at most ${MAX_FILES})` }] : [],
  );
};

export const fileSizes: Check = (sources) =>
  sources
    .filter((source) => isTypeScript(source) && !isTest(source))
    .flatMap(({ path, text }) => {
      const lines = text.trimEnd().split('\n').length;
      return lines > MAX_LINES ? [{ path, line: MAX_LINES, message: `${lines} lines; split the file by task (at most ${MAX_LINES})` }] : [];
    });
