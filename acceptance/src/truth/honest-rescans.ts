import { nessus, openvas } from './network-tools.ts';
import { dependencyCheck, grype, npmAudit, osvScanner, snyk, trivyImage } from './package-tools.ts';
import { timeOf } from './scan.ts';
import { allTools, images, withBranches, withRepository } from './tools.ts';
import type { Rescan } from './trial.ts';

/** Scans that prove a fix, if they are not said to prove nothing. */
export const honestRescans: readonly Rescan[] = [
  { name: 'a plain rescan', tools: allTools, expected: 'verified' },
  { name: 'a rescan whose report arrives first', tools: allTools, reversed: true, expected: 'verified' },
  {
    name: 'a rescan in another time zone',
    tools: [trivyImage, grype],
    upload: { edit: (text) => text.replace(timeOf({ day: 8 }).toISOString(), zoned(8)) },
    expected: 'verified',
  },
  {
    name: 'a rescan under another spelling of the name',
    tools: [trivyImage, grype],
    upload: { edit: (text) => text.replaceAll('registry.example.com/', 'Registry.Example.com/') },
    expected: 'verified',
  },
  { name: 'a rescan of the next version', tools: images, first: { tag: '1.4.2' }, second: { tag: '1.4.3' }, expected: 'verified' },
  { name: 'a rescan of version 1.10 after 1.9', tools: images, first: { tag: '1.9.0' }, second: { tag: '1.10.0' }, expected: 'verified' },
  {
    name: 'a rescan of a moved tag',
    tools: [trivyImage, grype],
    first: { tag: 'latest', build: 1 },
    second: { tag: 'latest', build: 2 },
    expected: 'verified',
  },
  { name: 'a rescan of the same branch', tools: withBranches, first: { branch: 'main' }, second: { branch: 'refs/heads/main' }, expected: 'verified' },
  {
    name: 'a rescan of a stated track',
    tools: withRepository,
    firstUpload: { scope: { track: 'main' } },
    upload: { scope: { track: 'main' } },
    expected: 'verified',
  },
  { name: 'a rescan after one with every record twice', tools: allTools, first: { twice: true }, expected: 'verified' },
  {
    name: 'a rescan of one part',
    tools: [npmAudit, osvScanner, snyk],
    firstUpload: { scope: { path: 'web' } },
    upload: { scope: { path: 'web' } },
    expected: 'verified',
  },
  {
    name: 'a rescan with credentials after one without',
    tools: [nessus, openvas],
    first: { credentialed: false },
    second: { credentialed: true },
    expected: 'verified',
  },
  { name: 'a rescan with a newer database', tools: [grype, dependencyCheck], first: { knowledge: 0 }, second: { knowledge: 8 }, expected: 'verified' },
];

/** The same moment, two hours to the east. */
function zoned(day: number): string {
  const local = new Date(timeOf({ day }).getTime() + 2 * 3_600_000).toISOString();
  return local.replace('Z', '+02:00');
}
