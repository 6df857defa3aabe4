import { describe, expect, test } from 'vitest';
import { casts } from './casts.ts';
import { apiDescription } from './description.ts';
import { expandedCalls } from './expanded-calls.ts';
import { language } from './language.ts';
import { namedTests } from './named-tests.ts';
import { regularExpressions } from './regular-expressions.ts';
import { repeatableTransactions } from './repeatable-transactions.ts';
import { fileSizes, folderSizes } from './sizes.ts';
import type { Check } from './sources.ts';
import { everyTableHasAnOwner, onlyWriters, tableOwners } from './table-owners.ts';

/** A check is only worth something if it reports: planted violations, and sources that keep the rule. */
const messages = (check: Check, path: string, text: string): string[] => check([{ path, text }]).map(({ line, message }) => `${line}: ${message}`);

describe('casts', () => {
  test.each(['const a = b as never;', 'const a = b as unknown as C;'])('%s is reported', (text) => {
    expect(messages(casts, 'service/src/http/a.ts', text)).toHaveLength(1);
  });
  test('a cast with a reason on the line above is not reported', () => {
    expect(messages(casts, 'service/src/http/a.ts', '// cast: the types of ajv-formats do not know ESM\nconst a = b as never;')).toEqual([]);
  });
  test('tests may cast', () => {
    expect(messages(casts, 'service/src/http/a.test.ts', 'const a = b as never;')).toEqual([]);
  });
});

describe('repeatable transactions', () => {
  const inTransaction = (body: string): string[] =>
    messages(repeatableTransactions, 'service/src/http/a.ts', `await db.withTenant({ orgId }, async (tx) => {\n${body}\n});`);
  test.each([
    'count++;',
    'count += 1;',
    'found = await read(tx);',
    'all.push(one);',
    'known.set(one, two);',
    'metrics.jobs.inc({ job });',
    'state.last ??= one;',
  ])('%s is reported', (body) => {
    expect(inTransaction(body)).toEqual([expect.stringMatching(/^2: /)]);
  });
  test.each([
    'let count = 0;\ncount++;',
    'const { all } = await read(tx);\nall.push(one);',
    'for (const [all] of lists) all.push(one);',
    'return lists.map((list) => list.add(one));',
    "await tx.updateTable('a').set({ b }).execute();",
    'await sql`update a set b = c`.execute(tx);',
    'if (a === b || a <= b) return;',
  ])('%s is not reported', (body) => {
    expect(inTransaction(body)).toEqual([]);
  });
  test('changes after the transaction are not reported', () => {
    expect(messages(repeatableTransactions, 'service/src/http/a.ts', 'const n = await db.withSystem((tx) => count(tx));\ntotal += n;')).toEqual([]);
  });
});

describe('expanded calls', () => {
  test('a call whose columns are selected is reported', () => {
    expect(messages(expandedCalls, 'service/src/a.ts', 'sql`\ninsert into a select (jsonb_populate_record(a, b(c))).* from a`')).toHaveLength(1);
  });
  test('a call that is joined is not reported', () => {
    expect(messages(expandedCalls, 'service/src/a.ts', 'sql`insert into a select made.* from a cross join jsonb_populate_record(a, b(c)) made`')).toEqual([]);
  });
});

describe('named tests', () => {
  const found = (text: string, ...tests: [path: string, text: string][]): string[] => {
    const sources = [{ path: 'SECURITY.md', text }, ...tests.map(([path, content]) => ({ path, text: content }))];
    return namedTests(sources).map(({ line, message }) => `${line}: ${message}`);
  };
  const oidc = 'service/src/organizations/sign-in/oidc.db.test.ts';
  test('a test that does not exist is reported, also if another one ends like it', () => {
    const text = 'Shown by\n`http/access-walk.db.test.ts` and `sign-in/oidc.db.test.ts`.';
    const others: [string, string][] = [
      ['service/src/http/access-walk.db.test.ts', ''],
      ['service/src/organizations/own-sign-in/oidc.db.test.ts', ''],
    ];
    expect(found(text, ...others)).toEqual(['2: there is no test sign-in/oidc.db.test.ts']);
  });
  test('a title that does not exist is reported', () => {
    const text = '`sign-in/oidc.db.test.ts` "is refused", `sign-in/oidc.db.test.ts` "is accepted"';
    expect(found(text, [oidc, "it('is refused', () => {});"])).toEqual(['1: sign-in/oidc.db.test.ts has no test "is accepted"']);
  });
  test('a name that two tests have is reported', () => {
    const [one, other] = ['service/src/findings/triage/four-eyes.db.test.ts', 'service/src/work-items/approvals/four-eyes.db.test.ts'];
    expect(found('`four-eyes.db.test.ts`', [one, ''], [other, ''])).toEqual([`1: four-eyes.db.test.ts can be ${one} or ${other}`]);
  });
  test('a row that names nothing is reported, but not one with a test, a document or a reason, and not in other tables', () => {
    const rows = ['| a | `sign-in/oidc.db.test.ts` |', '| b | [x](docs/x.md) |', '| c | Not applicable: none |', '| d | by review |'];
    const table = ['| risk | shown by  |', '| ---- | --- |', ...rows, '', '| what | why |', '| --- | --- |', '| e | f |'].join('\n');
    expect(found(table, [oidc, ''])).toEqual(['6: the row names neither a test nor a document nor why there is none']);
  });
});

describe('table owners', () => {
  test.each([
    ['an own SQL string', 'await sql`select id from findings where org_id = 1`.execute(tx);'],
    ['a join', 'sql`select 1 from work_items w join findings f on f.id = w.id`'],
    ['a second table of a from list', 'sql`select 1 from work_items w, findings f`'],
    ['an update', 'sql`update findings set status = 1`'],
    ['the beginning of a fragment', 'sql`findings f where f.org_id = 1 and exists (select 1)`'],
    ['a query builder', "tx.selectFrom('findings').selectAll()"],
    ['a query builder with an alias', "tx.innerJoin('findings as f', 'f.id', 'w.id')"],
    ['a prepared statement', "const text = 'select count(*) from findings';"],
  ])('%s of another feature is reported', (_, text) => {
    expect(messages(tableOwners, 'service/src/work-items/items/a.ts', text)).toEqual(['1: work-items touches the table findings, which belongs to findings']);
    expect(messages(tableOwners, 'service/src/findings/list/a.ts', text).filter((message) => message.includes('table findings'))).toEqual([]);
  });
  test('prose and column names are not reported', () => {
    const text =
      "/* select from findings */\n// update findings\nconst a = 'findings';\nsql`select findings.id from work_items`;\nthrow new Error('no findings');";
    expect(messages(tableOwners, 'service/src/work-items/a.ts', text)).toEqual([]);
  });
  test('a published view is open to the feature it is published for', () => {
    const text = 'sql`select 1 from finding_work_items`';
    expect(messages(tableOwners, 'service/src/findings/a.ts', text)).toEqual([]);
    expect(messages(tableOwners, 'service/src/integrations/a.ts', text)).toHaveLength(1);
  });
  test('a table without an owner is reported', () => {
    expect(messages(everyTableHasAnOwner, 'service/migrations/0002-more.sql', 'create table more (id uuid);')).toHaveLength(1);
    expect(messages(everyTableHasAnOwner, 'service/migrations/0002-more.sql', 'create table findings (id uuid);')).toEqual([]);
  });
  test.each(["tx.insertInto('events')", 'sql`insert into events (id) select 1`', 'sql`insert into audit_events (id) select 1`'])(
    '%s is left to one writer',
    (text) => {
      expect(messages(onlyWriters, 'service/src/events/webhooks/a.ts', text)).toHaveLength(1);
    },
  );
});

describe('sizes', () => {
  test('a long file is reported', () => {
    expect(messages(fileSizes, 'service/src/a.ts', 'a;\n'.repeat(301))).toHaveLength(1);
    expect(messages(fileSizes, 'service/src/a.ts', 'a;\n'.repeat(300))).toEqual([]);
  });
  test('a full folder is reported; tests, routes and schemas do not count', () => {
    const files = (count: number, suffix = '.ts') => Array.from({ length: count }, (_, n) => ({ path: `service/src/a/f${n}${suffix}`, text: '' }));
    expect(folderSizes(files(16))).toHaveLength(1);
    expect(folderSizes([...files(15), ...files(5, '.test.ts'), { path: 'service/src/a/routes-b.ts', text: '' }])).toEqual([]);
  });
});

describe('regular expressions', () => {
  test.each([
    ['two repetitions of the same characters', 'const found = /^\\s*\\n\\s*x/.test(text);', 'two repetitions share'],
    ['a repetition that starts again at every position', "text.replace(/\\/+$/, '');", 'it starts again at each of many'],
    ['a repetition inside a repetition', 'const isA = /^(?:a+)+$/.test(text);', 'exponential time'],
    ['a string', "const pattern = new RegExp('a*a*$', 'm');", 'two repetitions share'],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the source of a template
    ['a template', 'const pattern = new RegExp(`^${name}\\\\s*:\\\\s*\\\\s*$`);', 'two repetitions share'],
    ['a pattern of a schema', "const Name = Type.String({ pattern: '^\\\\w*\\\\d*$' });", 'two repetitions share'],
  ])('%s is reported', (_, text, message) => {
    expect(messages(regularExpressions, 'service/src/http/a.ts', text)).toEqual([expect.stringContaining(message)]);
  });
  test('linear expressions, divisions and comments are not reported', () => {
    const text = "text.replace(/(?<!\\/)\\/+$/, '');\nconst half = (width) / 2 / height;\n// like /a*a*$/\nconst a = /^\\w+@\\w+$/;";
    expect(messages(regularExpressions, 'service/src/http/a.ts', text)).toEqual([]);
  });
  test('tests may have any', () => {
    expect(messages(regularExpressions, 'service/src/http/a.test.ts', 'const a = /a*a*$/;')).toEqual([]);
  });
});

describe('language', () => {
  test.each(['scores the findings anew', 'at the most ten', 'The key is shown this once.', 'is answered with 409'])('"%s" is reported', (text) => {
    expect(messages(language, 'docs/a.md', text)).toHaveLength(1);
  });
  test('plain English is not reported', () => {
    expect(messages(language, 'docs/a.md', 'Returns at most ten findings. Almost a new one.')).toEqual([]);
  });
});

test('a description without a verb, and fields and parameters without a description, are reported', () => {
  const text = JSON.stringify({
    paths: {
      '/a': {
        get: { operationId: 'getA', description: 'The thing.', parameters: [{ name: 'limit' }] },
        put: { operationId: 'putA', description: 'Stores a thing.' },
      },
    },
    components: { schemas: { A: { properties: { id: { description: 'Id' }, name: {}, list: { description: 'List', items: { properties: { x: {} } } } } } } },
  });
  expect(apiDescription([{ path: 'service/openapi.json', text }]).map(({ message }) => message)).toEqual([
    expect.stringContaining('getA: begin'),
    'getA: the parameter limit has no description',
    'the field A.name has no description',
    'the field A.list[].x has no description',
  ]);
});
