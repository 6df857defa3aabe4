import { codeql, gitleaks, semgrep } from './code-tools.ts';
import { nessus } from './network-tools.ts';
import { cyclonedx, grype, npmAudit, osvScanner, snyk, trivyImage, trivyRepository } from './package-tools.ts';
import type { Scan } from './scan.ts';
import type { TruthCase } from './trial.ts';

/** Longer histories: several tools, decisions of people, tracks that move. */

const all: Scan = { found: [0, 1, 2, 3], day: 1 };
const fixed: Scan = { found: [1, 2, 3], day: 8 };
const several = Array.from({ length: 24 }, (_, n) => n);
const repository = (asset: string) => ({ type: 'repository', name: `https://git.example.com/${asset}` });

/** Tools that can be run on one repository. */
const onRepository = [trivyRepository, snyk, osvScanner, npmAudit, semgrep, codeql, gitleaks];

export const histories: readonly TruthCase[] = [
  {
    name: 'two tags of one build, one of which moves on',
    tool: trivyImage,
    expected: { 0: 'open' },
    run: async ({ scan }) => {
      await scan(trivyImage, { ...all, tag: 'prod', build: 1 });
      await scan(trivyImage, { ...all, day: 2, tag: 'staging', build: 1 });
      await scan(trivyImage, { ...fixed, tag: 'staging', build: 2 });
    },
  },
  {
    name: 'a tag that moves back to the build with the weakness',
    tool: grype,
    expected: { 0: 'open', 1: 'open' },
    run: async ({ scan }) => {
      await scan(grype, { ...all, tag: 'latest', build: 1 });
      await scan(grype, { ...fixed, tag: 'latest', build: 2 });
      await scan(grype, { ...all, day: 9, tag: 'latest', build: 1 });
    },
  },
  {
    name: 'five nights of one release line, then the next',
    tool: trivyImage,
    expected: { 0: 'open' },
    run: async ({ scan }) => {
      for (const day of [1, 2, 3, 4, 5]) await scan(trivyImage, { ...all, day, tag: `1.4.${day}` });
      await scan(trivyImage, { ...fixed, tag: '2.0.0' });
    },
  },
  {
    name: 'the old report once more after the fix',
    tool: grype,
    expected: { 0: 'verified', 1: 'open' },
    run: async ({ scan }) => {
      await scan(grype, all);
      await scan(grype, fixed);
      await scan(grype, all);
    },
  },
  {
    name: 'the same fix twice',
    tool: semgrep,
    expected: { 0: 'verified', 1: 'open' },
    run: async ({ scan }) => {
      await scan(semgrep, all);
      await scan(semgrep, fixed);
      await scan(semgrep, fixed);
    },
  },
  {
    name: 'a weakness that comes back',
    tool: nessus,
    expected: { 0: 'open', 1: 'open' },
    run: async ({ scan }) => {
      await scan(nessus, all);
      await scan(nessus, fixed);
      await scan(nessus, { ...all, day: 15 });
    },
  },
  {
    name: 'two tools, of which one still shows it',
    tool: grype,
    expected: { 0: 'open' },
    run: async ({ scan }) => {
      await scan(grype, all);
      await scan(trivyImage, { ...all, day: 2 });
      await scan(grype, fixed);
    },
  },
  {
    name: 'two tools, and neither shows it any more',
    tool: grype,
    expected: { 0: 'verified', 1: 'open' },
    run: async ({ scan }) => {
      await scan(grype, all);
      await scan(trivyImage, { ...all, day: 2 });
      await scan(grype, fixed);
      await scan(trivyImage, { ...fixed, day: 9 });
    },
  },
  {
    name: 'seven tools on one repository, of which one has no finding left',
    tool: trivyRepository,
    expected: { 0: 'open', 1: 'open' },
    run: async ({ scan, trial, request }) => {
      for (const tool of onRepository) await scan(tool, all, { scope: { asset: repository(trial.asset) } });
      await scan(npmAudit, { found: [], day: 8 }, { scope: { asset: repository(trial.asset) } });
      const { data } = await request('GET', `/assets?name=git.example.com/${trial.asset}`);
      if ((data as unknown[]).length !== 1) throw new Error(`${(data as unknown[]).length} assets`);
    },
  },
  {
    name: 'seven tools on one repository, all of which see the fix',
    tool: trivyRepository,
    expected: { 0: 'verified', 1: 'open' },
    run: async ({ scan, trial }) => {
      for (const tool of onRepository) await scan(tool, all, { scope: { asset: repository(trial.asset) } });
      for (const tool of onRepository) await scan(tool, fixed, { scope: { asset: repository(trial.asset) } });
    },
  },
  {
    name: 'many closures that a person discards',
    tool: trivyImage,
    expected: { 0: 'open' },
    run: async ({ scan, request }) => {
      await scan(trivyImage, { ...all, found: several });
      const { id, status } = await scan(trivyImage, { found: [], day: 8 });
      if (status !== 'needs_confirmation') throw new Error(status);
      await request('POST', `/imports/${id}/discard`);
    },
  },
  {
    name: 'many closures that a person confirms',
    tool: trivyImage,
    expected: { 0: 'verified' },
    run: async ({ scan, request }) => {
      await scan(trivyImage, { ...all, found: several });
      const { id } = await scan(trivyImage, { found: [], day: 8 });
      await request('POST', `/imports/${id}/confirm`);
    },
  },
  {
    name: 'many closures that are confirmed after a newer scan showed the weakness again',
    tool: grype,
    expected: { 0: 'open', 1: 'open' },
    run: async ({ scan, request }) => {
      await scan(grype, { ...all, found: several });
      const { id } = await scan(grype, { found: [], day: 8 });
      await scan(grype, { ...all, day: 9 }, { scope: { coverage: 'partial' } });
      await request('POST', `/imports/${id}/confirm`);
    },
  },
  {
    name: 'a newer scan of a part, and an older whole one that arrives later',
    tool: semgrep,
    expected: { 0: 'open' },
    run: async ({ scan }) => {
      await scan(semgrep, { ...all, day: 8, hour: -6 });
      await scan(semgrep, { ...all, day: 8, hour: 3 }, { scope: { coverage: 'partial' } });
      await scan(semgrep, { ...fixed, day: 8, hour: 1 });
    },
  },
  {
    name: 'another platform of an image',
    tool: trivyImage,
    expected: { 0: 'open' },
    run: async ({ scan }) => {
      await scan(trivyImage, { ...all, build: 1, platform: 'amd64' });
      await scan(trivyImage, { ...fixed, build: 1, platform: 'arm64' });
    },
  },
  {
    name: 'another platform of an image, by Grype',
    tool: grype,
    expected: { 0: 'open' },
    run: async ({ scan }) => {
      await scan(grype, { ...all, build: 1, platform: 'amd64' });
      await scan(grype, { ...fixed, build: 1, platform: 'arm64' });
    },
  },
  {
    name: 'a scan that does not say for which platform it is',
    tool: grype,
    expected: { 0: 'open' },
    run: async ({ scan }) => {
      await scan(grype, { ...all, platform: 'amd64' });
      await scan(grype, fixed);
    },
  },
  {
    name: 'the machine with the same name and address',
    tool: nessus,
    expected: { 0: 'verified', 1: 'open' },
    run: async ({ scan }) => {
      await scan(nessus, { ...all, address: '192.0.2.10' });
      await scan(nessus, { ...fixed, day: 7, address: '192.0.2.11' });
      await scan(nessus, { ...fixed, address: '192.0.2.10' });
    },
  },
  {
    name: 'the next build of the same platform',
    tool: grype,
    expected: { 0: 'verified' },
    run: async ({ scan }) => {
      await scan(grype, { ...all, platform: 'amd64' });
      await scan(grype, { ...fixed, platform: 'amd64' });
    },
  },
  {
    name: 'a scan of main after a pull request that does not have it',
    tool: codeql,
    expected: { 0: 'open' },
    run: async ({ scan }) => {
      await scan(codeql, { ...all, branch: 'main' });
      await scan(codeql, { ...fixed, branch: 'refs/pull/9/merge' });
      await scan(codeql, { ...all, day: 9, branch: 'main' }, { scope: { ended_tracks: ['refs/pull/9/merge'] } });
    },
  },
  {
    name: 'a branch that the report names while the scope names the repository',
    tool: trivyRepository,
    expected: { 0: 'open' },
    run: async ({ scan, trial }) => {
      const scope = { asset: repository(trial.asset) };
      await scan(trivyRepository, all, { scope });
      await scan(trivyRepository, { ...fixed, branch: 'feature/checkout' }, { scope });
    },
  },
  {
    name: 'the same build, with a scope that names the image',
    tool: grype,
    expected: { 0: 'withdrawn' },
    run: async ({ scan, trial }) => {
      const scope = { asset: { type: 'container_image', name: `registry.example.com/${trial.asset}:prod` } };
      await scan(grype, { ...all, build: 4 }, { scope });
      await scan(grype, { ...fixed, build: 4 }, { scope });
    },
  },
  {
    name: 'an inventory without vulnerabilities',
    tool: cyclonedx,
    expected: { 0: 'open' },
    run: async ({ scan }) => {
      await scan(cyclonedx, all);
      await scan(cyclonedx, fixed, { edit: (text) => JSON.stringify({ ...JSON.parse(text), vulnerabilities: undefined }) });
    },
  },
  {
    name: 'a report that declares the weakness resolved',
    tool: cyclonedx,
    expected: { 0: 'remediated', 1: 'open' },
    run: async ({ scan }) => {
      await scan(cyclonedx, all);
      await scan(cyclonedx, { ...all, day: 8 }, { edit: (text) => text.replace('"affects"', '"analysis":{"state":"resolved"},"affects"') });
    },
  },
  {
    name: 'a report that declares the weakness not affecting',
    tool: cyclonedx,
    expected: { 0: 'open', 1: 'open' },
    run: async ({ scan }) => {
      await scan(cyclonedx, all);
      await scan(cyclonedx, { ...all, day: 8 }, { edit: (text) => text.replace('"affects"', '"analysis":{"state":"not_affected"},"affects"') });
    },
  },
  {
    name: 'a report that pairs two vulnerabilities that have nothing in common',
    tool: osvScanner,
    // What the tool now says is another finding. It is open.
    expected: { 0: ['open', 'withdrawn'], 1: 'open' },
    run: async ({ scan, trial }) => {
      await scan(osvScanner, all);
      const [one, other] = [osvScanner.idOf(trial, 0), osvScanner.idOf(trial, 1)];
      await scan(osvScanner, { ...all, day: 8 }, { edit: (text) => text.replaceAll(`["${one}"]`, `["${one}","${other}"]`) });
    },
  },
];
