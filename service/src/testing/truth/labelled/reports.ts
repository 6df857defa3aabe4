import { randomOf } from '../random.ts';
import { cyclonedxRepository, grypeImage, grypeRepository, trivyImage, trivyRepository } from './anchore-aqua.ts';
import { checkov, codeHits, gitleaks, sarif, semgrep } from './code-tools.ts';
import { dependabot, gitlabContainer, gitlabDependencies, npmAudit, osvImage, osvRepository, snykImage, snykRepository } from './library-tools.ts';
import { nessus, networkHits, openvas, zapJson, zapXml } from './network-tools.ts';
import type { LabelledReport, Labels, Telling } from './report.ts';
import { withSystemPackages, worldOf } from './world.ts';

/** What all tools report about one invented world, in random order: up to three images and three repositories, hosts and web applications. */
export function labelledReports(seed: number, labels: Labels, assetsOfEach: number): LabelledReport[] {
  const random = randomOf(seed + 40_000);
  const world = withSystemPackages(worldOf(seed), seed);
  const images = world.images.slice(0, assetsOfEach);
  const repositories = world.repositories.slice(0, assetsOfEach);
  const network = networkHits(seed);
  /** Each run of a tool knows most of what there is. */
  const telling = (): Telling => ({
    labels,
    knows: () => random.chance(0.85),
    spelling: random.number(4),
    listsPackages: random.chance(0.5),
    at: '2026-03-02T04:05:06.789Z',
  });
  return random.shuffled(
    [
      ...images.flatMap((image) => [
        trivyImage(image, telling()),
        grypeImage(image, telling()),
        osvImage(image, telling()),
        snykImage(image, telling()),
        gitlabContainer(image, telling()),
      ]),
      ...repositories.flatMap((repository) => [
        trivyRepository(repository, telling()),
        grypeRepository(repository, telling()),
        cyclonedxRepository(repository, telling()),
        osvRepository(repository, telling()),
        snykRepository(repository, telling()),
        npmAudit(repository, telling()),
        gitlabDependencies(repository, telling()),
        dependabot(repository, telling()),
      ]),
      nessus(network, labels, true),
      nessus(network, labels, false),
      openvas(network, labels),
      zapJson(network, labels),
      zapXml(network, labels),
      ...repositories.flatMap(({ name }, n) => codeReports(name, seed + n)),
    ].filter((report) => report !== null),
  );
}

function codeReports(repository: string, seed: number): LabelledReport[] {
  const hits = codeHits(repository, seed, 1);
  const first = { repository, hits, turn: 0, spelling: seed } as const;
  return [semgrep(first), sarif(first, 'semgrep'), sarif(first, 'codeql'), gitleaks(first), checkov(first)];
}
