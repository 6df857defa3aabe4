import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { parse } from 'yaml';
import { startApi, type TestApi } from '../testing/http/api.ts';
import { readConfig } from './config.ts';

const deploy = fileURLToPath(new URL('../../../deploy/', import.meta.url));
const read = (path: string): string => readFileSync(join(deploy, path), 'utf8');
let api: TestApi;

beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api?.close());

/** Functions, keywords and labels of the query language, so that what remains in a query are names of metrics. */
const KEYWORDS = new Set(['by', 'offset', 'sum', 'max', 'rate', 'increase', 'topk', 'histogram_quantile', 'label_values']);

function metricsIn(query: string): string[] {
  const bare = query
    .replaceAll(/"[^"]*"/g, '')
    .replaceAll(/\{[^}]*\}|\[[^\]]*\]/g, ' ')
    .replaceAll(/\bby \([^)]*\)/g, ' ')
    .replaceAll(/\boffset \w+/g, ' ')
    .replaceAll(/, instance\)/g, ')');
  return [...bare.matchAll(/[a-z_][a-z0-9_]*/g)].map(([name]) => name).filter((name) => !KEYWORDS.has(name));
}

interface Rule {
  alert: string;
  expr: string;
  annotations: { summary: string; description: string };
}
const rules = (): Rule[] => (parse(read('monitoring/alerts.yaml')) as { groups: { rules: Rule[] }[] }).groups.flatMap((group) => group.rules);

interface Dashboard {
  panels: { title: string; targets: { expr: string }[] }[];
  templating: { list: { query: string | { query: string } }[] };
}

it('alert rules and the dashboard use only metrics that the service exports', async () => {
  const { panels, templating } = JSON.parse(read('monitoring/grafana-dashboard.json')) as Dashboard;
  const queries = [
    ...rules().map(({ expr }) => expr),
    ...panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
    ...templating.list.flatMap(({ query }) => (typeof query === 'string' ? [] : [query.query])),
  ];
  const text = String((await api.call('GET', '/metrics')).body);
  const exported = new Set(
    [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].flatMap(([, name = '', type]) => (type === 'histogram' ? [`${name}_bucket`, `${name}_count`] : [name])),
  );
  // Prometheus itself adds `up`.
  const unknown = queries.flatMap(metricsIn).filter((name) => name !== 'up' && !exported.has(name));
  expect(unknown).toEqual([]);
  expect(queries.flatMap(metricsIn).length).toBeGreaterThan(queries.length - 1);
  expect(metricsIn('sum by (le) (rate(rrs_invented_total{state="x"}[5m])) > 1')).toEqual(['rrs_invented_total']);
});

const hasPrometheus = spawnSync('promtool', ['--version']).status === 0;
it.runIf(hasPrometheus)('Prometheus accepts the alert rules', () => {
  const { status, stderr } = spawnSync('promtool', ['check', 'rules', join(deploy, 'monitoring/alerts.yaml')], { encoding: 'utf8' });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
});

it('each alert has a name of its own and says what to do', () => {
  const names = rules().map(({ alert }) => alert);
  expect(new Set(names).size).toBe(names.length);
  for (const { annotations } of rules()) expect(annotations).toEqual({ summary: expect.stringMatching(/\S/), description: expect.stringMatching(/\.$/) });
});

it('the settings of the systemd units are valid', () => {
  const environment = Object.fromEntries(
    [...read('systemd/rrs-server.env').matchAll(/^#?([A-Z][A-Z0-9_]*)=(.*)$/gm)].map(([, name = '', value = '']) => [name, value]),
  );
  expect(Object.keys(environment).length).toBeGreaterThan(5);
  const { DATABASE_URL_FILE: _, ...direct } = environment;
  expect(readConfig(direct).warnings).toEqual([]);
});

const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0;
it.runIf(hasSystemd)('systemd accepts the units', () => {
  const root = mkdtempSync(join(tmpdir(), 'rrs-units-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  for (const name of ['rrs-server.service', 'rrs-api@.service', 'rrs-worker@.service']) {
    const unit = read(`systemd/${name}`);
    const program = '/opt/rrs/node_modules/.bin/rrs-server';
    expect(unit).toContain(program);
    mkdirSync(join(root, 'units'), { recursive: true });
    // The program is installed somewhere else here.
    writeFileSync(join(root, 'units', name.replace('@', '@1')), unit.replace(program, '/bin/true'));
    const { status, stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', join(root, 'units', name.replace('@', '@1'))], { encoding: 'utf8' });
    expect({ name, status, stderr: stderr.split('\n').filter((line) => line.includes('rrs-')) }).toEqual({ name, status: 0, stderr: [] });
  }
});
