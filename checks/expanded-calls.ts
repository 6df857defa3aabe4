import { type Check, isTypeScript, lineAt } from './sources.ts';

/** `select (call(row)).*` in SQL. */
const EXPANDED = /\bselect\s+\(\w+\([^;`]*?\)\)\.\*/g;

/** PostgreSQL makes the call again for each column of the row that it returns. As a table, it is made once. */
export const expandedCalls: Check = (sources) =>
  sources
    .filter((source) => source.path.startsWith('service/') && (isTypeScript(source) || source.path.endsWith('.sql')))
    .flatMap(({ path, text }) =>
      [...text.matchAll(EXPANDED)].map(({ index }) => ({
        path,
        line: lineAt(text, index),
        message: 'the function is called once for each column: join it as a table, `cross join call(row) made`, and select `made.*`',
      })),
    );
