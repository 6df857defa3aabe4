import type { ScanScope } from '../../findings/import/manage-imports.ts';
import { type FindingPatch, updateFinding } from '../../findings/triage/triage.ts';
import { systemActor } from '../../shared/actor.ts';
import type { Engine } from '../findings/imports.ts';
import { grypeImage, trivyImage } from './labelled/anchore-aqua.ts';
import { checkov, codeHits, gitleaks, sarif, semgrep } from './labelled/code-tools.ts';
import { createLabels, type LabelledReport } from './labelled/report.ts';
import { hex, type Image, withSystemPackages, worldOf } from './labelled/world.ts';
import { type Random, randomOf } from './random.ts';

/** The builds of one image or the commits of one repository, each with the reports of several tools. */
type Builds = LabelledReport[][];

export interface KeptResult {
  /** Decisions that were looked at after each later build, and those that still stood. */
  decisions: number;
  kept: number;
  lost: string[];
}

const day = (n: number): string => new Date(Date.UTC(2026, 2, 1 + n, 6)).toISOString();

/** Some libraries are upgraded from build to build, not far enough to be fixed. */
function imageBuilds(seed: number, count: number): Builds {
  const random = randomOf(seed + 50_000);
  const [first] = withSystemPackages(worldOf(seed), seed).images;
  if (!first) return [];
  let image: Image = { ...first, packages: first.packages.slice(0, 6), libraries: first.libraries.slice(0, 8) };
  return Array.from({ length: count }, (_, n) => {
    image = { ...image, tag: `1.${n}.0`, digest: `sha256:${hex(random, 64)}`, libraries: random.shuffled(image.libraries).map((one) => upgraded(one, random)) };
    const telling = { labels: createLabels(), knows: () => true, spelling: 0, listsPackages: true, at: day(n) };
    return [trivyImage(image, telling), grypeImage(image, telling)];
  });
}

function upgraded(library: Image['libraries'][number], random: Random): Image['libraries'][number] {
  if (random.chance(0.7)) return library;
  const [major, minor] = library.version.split('.');
  return { ...library, version: `${major}.${Number(minor) + 1}.0` };
}

function repositoryCommits(seed: number, count: number): Builds {
  const random = randomOf(seed + 60_000);
  const repository = 'git.example.com/acme/shop';
  const hits = codeHits(repository, seed, count);
  return Array.from({ length: count }, (_, turn) => {
    const scan = { repository, hits: random.shuffled(hits), turn, spelling: turn };
    const scope: ScanScope = { started_at: day(turn), version: hex(random, 40), track: 'main' };
    return [semgrep(scan), sarif(scan, 'codeql'), gitleaks(scan), checkov(scan)].map((report) => ({ ...report, scope: { ...report.scope, ...scope } }));
  });
}

const inAMonth = () => new Date(Date.now() + 30 * 86_400_000).toISOString();

/** What people decide about one finding after another. Null: nothing. */
const decisions: readonly ((() => FindingPatch) | null)[] = [
  () => ({ status: 'false_positive', justification: 'code_not_reachable', reason: 'only in tests' }),
  () => ({ status: 'risk_accepted', owner: 'ada', reason: 'until the next release', expires_at: inAMonth() }),
  null,
];

/** Decides about findings of the first build, imports the others completely, and counts after each how many decisions still stand. */
async function measure(engine: Engine, builds: Builds): Promise<KeptResult> {
  const org = await engine.organization();
  const decided = new Map<string, string>();
  const result: KeptResult = { decisions: 0, kept: 0, lost: [] };
  for (const [n, reports] of builds.entries()) {
    for (const { format, name, text, scope } of reports) {
      const { status, error } = await engine.runFile(org, { format, name, bytes: Buffer.from(text) }, { coverage: 'complete', ...scope });
      if (status !== 'succeeded') throw new Error(`${format}: ${status} ${error}`);
    }
    const findings = await engine.findings(org);
    if (n === 0) {
      for (const [at, { id }] of findings.entries()) {
        const patch = decisions[at % decisions.length]?.();
        if (!patch) continue;
        const { status } = await engine
          .db()
          .withTenant({ orgId: org }, (tx) => updateFinding(tx, systemActor(org, 'Ada'), { id, patch, check: () => {} }, engine.follower));
        decided.set(id, status);
      }
      continue;
    }
    for (const { id, status, weakness } of findings) {
      const before = decided.get(id);
      if (before === undefined) continue;
      result.decisions++;
      if (status === before) result.kept++;
      else result.lost.push(`${weakness} in build ${n + 1}: ${before} became ${status}`);
    }
  }
  return result;
}

export function measureImageDecisions(engine: Engine, builds: number): Promise<KeptResult> {
  return measure(engine, imageBuilds(1, builds));
}

export function measureRepositoryDecisions(engine: Engine, commits: number): Promise<KeptResult> {
  return measure(engine, repositoryCommits(1, commits));
}
