import { codeql, semgrep } from './code-tools.ts';
import { ownScanner } from './generic-tool.ts';
import { nessus } from './network-tools.ts';
import { grype, npmAudit, snyk, trivyImage, trivyRepository } from './package-tools.ts';
import { type Scan, type Trial, timeOf } from './scan.ts';
import type { TruthCase } from './trial.ts';

/** What somebody would try who wants the service to state something false, with reports and calls that are valid. */

const all: Scan = { found: [0, 1, 2, 3], day: 1 };
const fixed: Scan = { found: [1, 2, 3], day: 8 };
const repository = (asset: string) => ({ type: 'repository', name: `https://git.example.com/${asset}` });
const host = ({ asset }: Trial, name: string) => ({ type: 'host', name: `${name}.${asset}.example.com` });
const [mine, other, unnamed] = [ownScanner('scanner-a'), ownScanner('scanner-b'), ownScanner(null)];

/** Changes the parsed report. */
const changed =
  <T>(change: (report: T) => unknown) =>
  (text: string) =>
    JSON.stringify(change(JSON.parse(text)));
/** Changes the first run of a SARIF file of a tool that does not list all its rules. */
const changedRun = (change: (run: Record<string, unknown>) => object) =>
  changed(({ runs: [run], ...report }: { runs: Record<string, unknown>[] }) => ({ ...report, runs: [change(run ?? {})] }));
const ofCategory = (id: string) => changedRun((run) => ({ ...run, tool: { driver: { name: 'Linter' } }, automationDetails: { id } }));

export const attacks: readonly TruthCase[] = [
  {
    name: 'a scope that names hosts which the report does not list',
    tool: nessus,
    expected: { 0: 'open' },
    run: async ({ scan, trial }) => {
      await scan(nessus, all);
      await scan(nessus, { ...all, day: 8, hosts: ['web1'] }, { scope: { assets: [host(trial, 'web1'), host(trial, 'web2')] } });
    },
  },
  {
    name: 'a host that does not answer',
    tool: nessus,
    expected: { 0: 'open', 1: 'open' },
    run: async ({ scan }) => {
      await scan(nessus, { ...all, credentialed: false });
      const ping =
        '<ReportItem port="0" protocol="tcp" severity="0" pluginID="10180" pluginName="Ping the remote host"><plugin_output>The remote host is considered as dead - not scanning</plugin_output></ReportItem></ReportHost>';
      await scan(nessus, { found: [], day: 8, credentialed: false }, { edit: (text) => text.replaceAll('</ReportHost>', ping) });
    },
  },
  {
    name: 'credentials that one of two hosts refuses',
    tool: nessus,
    expected: { 0: ['open', 'verified'], 1: 'open' },
    run: async ({ scan }) => {
      await scan(nessus, all);
      const refuse = (part: string) => part.replace('>true<', '>false<').replace('checks : yes', 'checks : no');
      await scan(nessus, fixed, {
        edit: (text) =>
          text
            .split(/(?=<ReportHost )/)
            .map((part, n) => (n === 2 ? refuse(part) : part))
            .join(''),
      });
    },
  },
  {
    name: 'a scan that began before the weakness was seen and ended later',
    tool: nessus,
    expected: { 0: 'open' },
    run: async ({ scan }) => {
      await scan(nessus, all);
      const began = timeOf({ day: 0 }).toUTCString();
      await scan(nessus, fixed, { edit: (text) => text.replaceAll(/(<tag name="HOST_START">)[^<]+/g, `$1${began}`) });
    },
  },
  {
    name: 'a scan of another category of the same tool',
    tool: codeql,
    expected: { 0: 'open', 1: 'open' },
    run: async ({ scan }) => {
      await scan(codeql, all, { scope: {}, edit: ofCategory('/language:java/') });
      await scan(codeql, { found: [], day: 8 }, { edit: ofCategory('/language:python/') });
    },
  },
  {
    name: 'a scan of the same category of the same tool',
    tool: codeql,
    expected: { 0: 'verified', 1: 'open' },
    run: async ({ scan }) => {
      await scan(codeql, all, { edit: ofCategory('/language:java/') });
      await scan(codeql, fixed, { edit: ofCategory('/language:java/') });
    },
  },
  {
    name: 'a run that has no results because it did not start',
    tool: codeql,
    expected: { 0: 'open', 1: 'open' },
    run: async ({ scan }) => {
      await scan(codeql, all);
      await scan(codeql, { found: [], day: 8 }, { edit: changedRun((run) => ({ ...run, results: null })) });
    },
  },
  {
    name: 'a file with two tools, followed by one with the first tool only',
    tool: codeql,
    expected: { 0: 'open', 1: 'open' },
    run: async ({ scan }) => {
      const both = changed(({ runs: [run], ...report }: { runs: { results: { ruleId: string }[] }[] }) => ({
        ...report,
        runs: [
          { ...run, results: run?.results.slice(1) },
          { ...run, tool: { driver: { name: 'Linter' } }, results: run?.results.slice(0, 1) },
        ],
      }));
      await scan(codeql, all, { edit: both });
      await scan(codeql, fixed);
    },
  },
  {
    name: 'another scanner of your own on the same repository',
    tool: mine,
    expected: { 0: 'open', 1: 'open' },
    run: async ({ scan }) => {
      await scan(mine, all);
      await scan(other, { found: [7], day: 8 });
    },
  },
  {
    name: 'another scanner of your own that finds nothing',
    tool: mine,
    expected: { 0: 'open', 1: 'open' },
    run: async ({ scan }) => {
      await scan(mine, all);
      await scan(other, { found: [], day: 8 });
    },
  },
  {
    name: 'another scanner of your own that was there later, and the report of the first arrives late',
    tool: mine,
    expected: { 0: 'open' },
    run: async ({ scan }) => {
      await scan(other, { found: [7], day: 8 });
      await scan(mine, all);
    },
  },
  {
    name: 'a scanner of your own that finds nothing any more',
    tool: mine,
    expected: { 0: 'verified' },
    run: async ({ scan }) => {
      await scan(mine, all);
      await scan(mine, { found: [], day: 8 });
    },
  },
  {
    name: 'a scanner of your own that does not say its name when it finds nothing',
    tool: mine,
    expected: { 0: 'verified' },
    run: async ({ scan }) => {
      await scan(mine, all);
      await scan(unnamed, { found: [], day: 8 });
    },
  },
  {
    name: 'a pull request that is closed before its code is merged',
    tool: codeql,
    expected: { 0: 'open' },
    run: async ({ scan, trial, request }) => {
      await scan(codeql, { ...fixed, day: 0, branch: 'main' });
      await scan(codeql, { ...all, branch: 'refs/pull/9/merge' });
      await request('POST', '/ended-tracks', { asset: repository(trial.asset), tracks: ['refs/pull/9/merge'] });
      await scan(codeql, { ...all, day: 8, branch: 'main' });
    },
  },
  {
    name: 'a clean pull request whose track is merged into the main branch',
    tool: codeql,
    expected: { 0: 'open' },
    run: async ({ scan, found, request }) => {
      await scan(codeql, { ...all, branch: 'main' });
      await scan(codeql, { ...fixed, branch: 'refs/pull/9/merge' });
      const merging = request('POST', `/assets/${(await found(codeql, 0)).asset.id}/tracks/pr-9/merge`, { into: 'main', reason: 'merged' });
      await merging.then(
        () => Promise.reject(new Error('the tracks were merged')),
        () => {},
      );
    },
  },
  {
    name: 'an asset that is merged with another, which is then scanned',
    tool: trivyRepository,
    expected: { 0: 'open' },
    run: async ({ scan, trial, found, request }) => {
      await scan(trivyRepository, all);
      await scan(trivyRepository, { found: [7], day: 2, asset: `${trial.asset}-copy` });
      const [one, copy] = [await found(trivyRepository, 0), await found(trivyRepository, 7)];
      await request('POST', `/assets/${copy.asset.id}/merge`, { into: one.asset.id, reason: 'the same' });
      await scan(trivyRepository, { found: [1], day: 8, asset: `${trial.asset}-copy` });
      await request('POST', `/assets/${copy.asset.id}/unmerge`, { reason: 'not the same' });
    },
  },
  {
    name: 'an asset that has another name now',
    tool: trivyRepository,
    expected: { 0: 'verified', 1: 'open' },
    run: async ({ scan, trial, found, request }) => {
      await scan(trivyRepository, all);
      await request('PATCH', `/assets/${(await found(trivyRepository, 0)).asset.id}`, { name: `https://git.example.com/${trial.asset}-renamed` });
      await scan(trivyRepository, fixed);
    },
  },
  {
    name: 'a source that is retired and scans again',
    tool: grype,
    expected: { 0: 'withdrawn', 1: 'open' },
    run: async ({ scan, found, request }) => {
      await scan(grype, all);
      const { sightings } = await request('GET', `/findings/${(await found(grype, 0)).id}`);
      const [sighting] = sightings as { source: { id: string } }[];
      await request('POST', `/sources/${sighting?.source.id}/retire`, { reason: 'not used' });
      await scan(grype, fixed);
    },
  },
  {
    name: 'a run that looks for secrets only',
    tool: trivyImage,
    expected: { 0: 'open', 1: 'open' },
    run: async ({ scan }) => {
      await scan(trivyImage, all);
      const secrets = changed((report: object) => ({ ...report, Results: [{ Target: '/app/.env', Class: 'secret', Secrets: [] }] }));
      await scan(trivyImage, { found: [], day: 8 }, { edit: secrets });
    },
  },
  {
    name: 'a threshold that the report states',
    tool: snyk,
    expected: { 0: 'open', 1: 'open' },
    run: async ({ scan }) => {
      const severity = (n: number) => (n === 0 ? 'medium' : 'high');
      await scan(snyk, { ...all, severity });
      await scan(snyk, { ...fixed, severity }, { edit: changed((report: object) => ({ ...report, severityThreshold: 'high' })) });
    },
  },
  {
    name: 'a project that could not be tested',
    tool: snyk,
    expected: { 0: 'open', 1: 'open' },
    run: async ({ scan }) => {
      await scan(snyk, all);
      await scan(snyk, fixed, {
        mayFail: true,
        edit: changed((report: object) => [report, { ok: false, error: 'Missing node_modules folder', path: '/builds/shop/api' }]),
      });
    },
  },
  {
    name: 'a build that is named by its digest only',
    tool: trivyImage,
    expected: { 0: 'open' },
    run: async ({ scan, trial }) => {
      await scan(trivyImage, all);
      const byDigest = changed((report: object) => ({ ...report, ArtifactName: `registry.example.com/${trial.asset}@sha256:${'8'.repeat(64)}` }));
      await scan(trivyImage, fixed, { edit: byDigest });
    },
  },
  {
    name: 'a part of a repository that is spelled in another way',
    tool: npmAudit,
    expected: { 0: 'verified', 1: 'open' },
    run: async ({ scan }) => {
      await scan(npmAudit, all, { scope: { path: 'web' } });
      await scan(npmAudit, fixed, { scope: { path: './web/' } });
    },
  },
  {
    name: 'the whole repository after a part of it, by another job',
    tool: semgrep,
    expected: { 0: 'open' },
    run: async ({ scan }) => {
      await scan(semgrep, all, { scope: { path: 'web' } });
      await scan(semgrep, fixed);
    },
  },
  {
    name: 'closures that are confirmed although another tool has seen the weakness since',
    tool: trivyImage,
    expected: { 0: 'open' },
    run: async ({ scan, request }) => {
      await scan(trivyImage, { found: Array.from({ length: 24 }, (_, n) => n), day: 1 });
      const { id } = await scan(trivyImage, { found: [], day: 8 });
      await scan(grype, { found: [0], day: 9 });
      await request('POST', `/imports/${id}/confirm`);
    },
  },
];
