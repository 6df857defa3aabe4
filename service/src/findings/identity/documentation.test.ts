import { expect, it } from 'vitest';
import { documentedRows } from '../../testing/doc-tables.ts';
import { componentOf } from './component.ts';

const rows = documentedRows('assets.md', '## Components') as [string, string, string][];

it.each(rows)('%s %s is the documented component', (given, name, key) => {
  const [ecosystem = '', source] = given.split(', source ');
  const location = ecosystem === 'package URL' ? { purl: name } : { component: name, ecosystem, ...(source ? { source_package: source } : {}) };
  expect(componentOf(location)?.key).toBe(key);
});

it('finds the table', () => {
  expect(rows.length).toBeGreaterThan(5);
});
