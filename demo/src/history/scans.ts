import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { type Client, RrsError, type ScanScope } from '@rrs/client';
import { type Repository, tagOf, type World } from '../company/world.ts';
import { gitleaksReport, semgrepReport } from '../reports/code.ts';
import { grypeReport, trivyReport } from '../reports/images.ts';
import { nessusReport, zapReport } from '../reports/network.ts';

interface Upload {
  filename: string;
  report: string;
  scope: ScanScope;
}

/** How many images have an older release line that is still scanned: those after the first three, which the work items are about. */
const OLD_LINES = { from: 3, to: 6 };
const commitOf = ({ name }: Repository, week: number): string => createHash('sha1').update(`${name} ${week}`).digest('hex');

/** Grype runs every fourth week, and once more on what the work items are about: their proof needs a scan of the last build. */
const isSeenByGrype = (n: number, week: number, isLast: boolean): boolean => (week % 4 === 1 ? n < OLD_LINES.to || n % 3 === 0 : isLast && n < OLD_LINES.from);

/** What pipelines and scanners send on a day of a week, 0 to 6. Most scans are complete, so that they close what was mended. */
export function scansOf({ images, repositories, hosts, websites, weeks }: World, week: number, day: number, at: Date): Upload[] {
  const scope = { coverage: 'complete', started_at: at.toISOString() } as const;
  const code = (repository: Repository, tool: string, report: string): Upload => ({
    filename: `${tool}-${repository.name}.json`,
    report,
    scope: { ...scope, asset: { type: 'repository', name: repository.address }, track: 'main', version: commitOf(repository, week) },
  });
  const isLast = week === weeks - 1;
  switch (day) {
    case 0:
      return [
        ...images
          .filter((_, n) => n < OLD_LINES.to || week === 0 || isLast || (n + week) % 2 === 0)
          .map((image) => ({ filename: `trivy-${image.name}.json`, report: trivyReport({ image, tag: tagOf(week), week, at }), scope })),
        ...(week % 2 === 0 ? images.slice(OLD_LINES.from, OLD_LINES.to) : []).map((image) => ({
          filename: `trivy-${image.name}-1.x.json`,
          report: trivyReport({ image, tag: `1.4.${week}`, week: 0, at }),
          scope,
        })),
      ];
    case 1:
      return [
        ...repositories
          .filter((_, n) => week === 0 || isLast || (n + week) % 2 === 0)
          .map((repository) => code(repository, 'semgrep', semgrepReport({ repository, week }))),
        // Pull requests are scanned too, but never change the status of a finding.
        ...(isLast ? repositories.slice(0, 2) : []).map((repository, n) => {
          const { track: _, ...rest } = code(repository, 'semgrep', '').scope;
          return {
            filename: `semgrep-${repository.name}-pr.json`,
            report: semgrepReport({ repository, week: week + 1 }),
            scope: { ...rest, coverage: 'partial', track: `pr-${211 + n}` } as const,
          };
        }),
      ];
    case 2:
      return [{ filename: 'weekly-servers.nessus', report: nessusReport({ hosts, week, at }), scope }];
    case 3:
      return [
        ...(week % 4 === 0 ? repositories.filter(({ secrets }) => secrets.length > 0) : []).map((repository) =>
          code(repository, 'gitleaks', gitleaksReport({ repository, week })),
        ),
        ...(week % 2 === 0 || isLast ? websites : []).map((website) => ({
          filename: `zap-${new URL(website.url).hostname}.json`,
          report: zapReport({ website, week, at }),
          scope,
        })),
        // A scan without rules sees nothing. The service asks before it closes everything.
        ...(isLast ? repositories.slice(0, 1) : []).map((repository) => code(repository, 'semgrep', semgrepReport({ repository, week }, { hasRules: false }))),
        ...(isLast ? [{ filename: 'export.xlsx', report: 'PK\u0003\u0004 a spreadsheet by mistake', scope }] : []),
      ];
    case 4:
      return images
        .filter((_, n) => isSeenByGrype(n, week, isLast))
        .map((image) => ({ filename: `grype-${image.name}.json`, report: grypeReport({ image, tag: tagOf(week), week, at }), scope }));
    default:
      return [];
  }
}

const AT_ONCE = 3;

/** Sends the reports and waits until they are imported. */
export async function upload(pipeline: Client, uploads: readonly Upload[]): Promise<void> {
  const left = [...uploads];
  const next = async (): Promise<void> => {
    for (let one = left.shift(); one; one = left.shift()) {
      const { filename, report, scope } = one;
      const query = { filename, scan_scope: JSON.stringify(scope), ...(filename.startsWith('gitleaks') ? { format: 'gitleaks' as const } : {}) };
      try {
        let { id, status } = await pipeline.call('createImport', { query, body: new TextEncoder().encode(report), header: { Prefer: 'wait=60' } });
        // On a busy machine.
        for (; status === 'queued' || status === 'running'; await delay(200)) ({ status } = await pipeline.call('getImport', { path: { id } }));
      } catch (error) {
        // Some reports of the company are cut off. Their imports fail, and belong to its history.
        if (!(error instanceof RrsError && error.code === 'import_failed')) throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, next));
}
