import { casts } from './casts.ts';
import { apiDescription } from './description.ts';
import { expandedCalls } from './expanded-calls.ts';
import { language } from './language.ts';
import { namedTests } from './named-tests.ts';
import { regularExpressions } from './regular-expressions.ts';
import { repeatableTransactions } from './repeatable-transactions.ts';
import { fileSizes, folderSizes } from './sizes.ts';
import { readSources } from './sources.ts';
import { everyTableHasAnOwner, onlyWriters, tableOwners } from './table-owners.ts';

/** Rules of ARCHITECTURE.md that neither the compiler nor Biome nor dependency-cruiser can check. Part of `npm run check`. */
const checks = {
  casts,
  tableOwners,
  onlyWriters,
  everyTableHasAnOwner,
  folderSizes,
  fileSizes,
  language,
  apiDescription,
  regularExpressions,
  repeatableTransactions,
  expandedCalls,
  namedTests,
};

const chosen = process.argv.slice(2);
const sources = readSources();
let count = 0;
for (const [name, check] of Object.entries(checks)) {
  if (chosen.length > 0 && !chosen.includes(name)) continue;
  for (const { path, line, message } of check(sources)) {
    count++;
    process.stdout.write(`${path}:${line} ${message} [${name}]\n`);
  }
}
process.stdout.write(count === 0 ? `${sources.length} files keep the rules of the project\n` : `${count} violations\n`);
process.exitCode = count === 0 ? 0 : 1;
