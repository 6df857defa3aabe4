import { expect, it } from 'vitest';
import { useImports } from '../../../testing/findings/imports.ts';
import { uploadsTo } from '../../../testing/findings/uploads.ts';

/** ZAP numbers the alerts of a plugin when it gets a second one. */
const engine = useImports();
const { upload } = uploadsTo(engine);
const SITE = 'https://shop.example.com';

const alert = (alertRef: string | undefined, name: string) => ({
  pluginid: '10038',
  ...(alertRef === undefined ? {} : { alertRef }),
  alert: name,
  name,
  riskcode: '2',
  confidence: '2',
  count: '1',
  instances: [{ uri: `${SITE}/`, method: 'GET' }],
});
const report = (day: number, ...alerts: object[]) => ({
  '@programName': 'ZAP',
  '@version': '2.15.0',
  created: new Date(Date.UTC(2026, 0, day)).toISOString(),
  site: [{ '@name': SITE, '@host': 'shop.example.com', '@port': '443', '@ssl': 'true', alerts }],
});

const NOT_SET = 'CSP Header Not Set';
const OBSOLETE = 'Obsolete CSP Header Found';
const plain = alert('10038', NOT_SET);
const old = alert(undefined, NOT_SET);
const first = alert('10038-1', NOT_SET);
const second = alert('10038-2', OBSOLETE);

/** The statuses of the findings after reports with these alerts, by the rule and title that their findings have. */
async function after(...reports: object[][]): Promise<Record<string, string>> {
  const org = await engine.organization();
  for (const [n, alerts] of reports.entries()) await upload(org, 'zap', report(2 + n, ...alerts), {});
  return Object.fromEntries((await engine.findings(org)).map(({ weakness, status }) => [weakness, status]));
}

it.each([
  ['gets a number', [plain], [first], { 'zap:10038': 'open' }],
  ['gets an id and a number', [old], [first], { 'zap:10038': 'open' }],
  ['loses its number', [first], [plain], { 'zap:10038-1': 'open' }],
  ['gets a number beside another one', [plain], [second, first], { 'zap:10038': 'open', 'zap:10038-2': 'open' }],
])('an alert that %s is the same finding', async (_, before, now, expected) => {
  expect(await after(before, now)).toEqual(expected);
  expect(await after(before, now, before, now)).toMatchObject({ [Object.keys(expected)[0] ?? '']: 'open' });
});

it('an alert that got a number is closed when it is gone, also if its title has changed', async () => {
  expect(await after([plain], [first], [])).toEqual({ 'zap:10038': 'verified' });
  expect(await after([plain], [first], [alert('10038-1', 'CSP is missing')])).toEqual({ 'zap:10038': 'open' });
  expect(await after([plain], [first], [second])).toEqual({ 'zap:10038': 'verified', 'zap:10038-2': 'open' });
});

it('two alerts of a plugin are two findings', async () => {
  expect(await after([first, second], [first])).toEqual({ 'zap:10038-1': 'open', 'zap:10038-2': 'verified' });
});

it('an alert may go on under a number and another title, so it stays open as long as the plugin reports one', async () => {
  expect(await after([plain], [second])).toEqual({ 'zap:10038': 'open', 'zap:10038-2': 'open' });
  expect(await after([plain], [second], [])).toEqual({ 'zap:10038': 'verified', 'zap:10038-2': 'verified' });
});
