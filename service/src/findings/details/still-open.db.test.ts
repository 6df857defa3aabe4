import type { Asset, Observation, RunFacts } from '@rrs/scan-reports';
import { describe, expect, it } from 'vitest';
import { type Item, seen } from '../../testing/findings/imports.ts';
import { useImportsWithApi } from '../../testing/findings/imports-with-api.ts';
import { type Blocker, blockers } from '../absence/absence.ts';
import type { ImportRow, ScanScope } from '../import/manage-imports.ts';

const service = useImportsWithApi();

interface Shown {
  status: string;
  still_open_because: { code: string; sentence: string; import_id: string | null; at: string }[];
  sightings: { missed: { because: { code: string }[] } | null }[];
}

/** A day of January 2026, which may have a fraction. */
const at = (day: number): string => new Date(Date.UTC(2026, 0, 1) + (day - 1) * 86_400_000).toISOString();
const repository = (name: string): Asset => ({ type: 'repository', name: `https://git.example.com/${name}` });
const image = (name: string, given: Partial<Asset> = {}): Asset => ({ type: 'container_image', name, ...given });
const host = (name: string, ip: string): Asset => ({
  type: 'host',
  name,
  identifiers: [
    { kind: 'fqdn', value: name },
    { kind: 'ip', value: ip },
  ],
});
const complete = (day: number, given: Partial<ScanScope> = {}): ScanScope => ({ coverage: 'complete', started_at: at(day), ...given });

const run = (items: readonly Item[], scope: ScanScope): Promise<ImportRow> => service.run(items, { scope });
const clean = (asset: Asset, day: number, facts: RunFacts = {}): Promise<ImportRow> => run([{ run: { asset, ...facts } }, { run: facts }], complete(day));
const showing = (asset: Asset, weakness: string, day: number, facts: RunFacts = {}, given: Partial<Observation> = {}): Promise<ImportRow> =>
  run([seen({ asset, vulnerability_ids: [weakness], ...given }), { run: { asset } }, { run: facts }], complete(day));

/** A scan shows the finding of the weakness, and a later complete one does not. Returns the import of the latter. */
type Scenario = (weakness: string) => Promise<ImportRow>;

/** One repository, of which the runs state something else. */
function stating(first: RunFacts, second: RunFacts, given: Partial<Observation> = {}): Scenario {
  return async (weakness) => {
    const asset = repository(weakness);
    await showing(asset, weakness, 1, first, given);
    return clean(asset, 3, second);
  };
}

/** A scan of something else that has the name of the asset, on the same day. */
function covering(before: (name: string) => Asset, after: (name: string) => Asset): Scenario {
  return async (weakness) => {
    await showing(before(weakness.toLowerCase()), weakness, 1);
    return clean(after(weakness.toLowerCase()), 1.5);
  };
}

const inFile = { location: { path: 'src/a.ts', line: 1 } };

/** Bandit writes when it ran. A report without it was changed by somebody. */
function banditReport(results: readonly object[], generated_at?: string): Uint8Array {
  const metrics = { _totals: { 'SEVERITY.HIGH': results.length }, 'app.py': { 'SEVERITY.HIGH': results.length } };
  return Buffer.from(JSON.stringify({ errors: [], ...(generated_at ? { generated_at } : {}), metrics, results }));
}

const scenarios: Record<Blocker, Scenario> = {
  knowledge_older: stating({ knowledge_at: new Date('2026-01-01') }, { knowledge_at: new Date('2025-01-01') }),
  not_credentialed: stating({ credentialed: true }, { credentialed: false }),
  check_disabled: stating({}, { checks: ['another'] }, { rule: 'eval', ...inFile }),
  scan_narrower: stating({}, { left_out: ['secrets'] }, { cwes: [798], ...inFile }),
  hidden_by_comment: stating({}, { hidden_in: ['src/a.ts'] }, inFile),
  only_new: stating({}, { left_out: ['known'] }),
  suppressed_before: stating({}, {}, { suppressed: true }),
  not_read: stating({ files: ['src/a.ts', 'src/b.ts', 'src/c.ts'] }, { files: ['src/b.ts'] }, inFile),
  part_other: stating({ dependencies: 800 }, { dependencies: 300 }),
  inventory_only: stating({}, { inventory_only: true }),
  time_suspect: stating({}, { finished_at: new Date('2100-01-01') }),
  partially_covered: stating({}, { unfinished: true }),
  track_unstated: covering(
    (name) => image(`${name}:1a2b3c4`),
    (name) => image(`${name}:5d6e7f8`),
  ),
  platform_other: covering(
    (name) => image(`${name}:prod`, { platform: 'linux/amd64' }),
    (name) => image(`${name}:prod`, { platform: 'linux/arm64' }),
  ),
  address_other: covering(
    (name) => host(`${name}.example.com`, '192.0.2.1'),
    (name) => host(`${name}.example.com`, '192.0.2.2'),
  ),
  version_older: covering(
    (name) => image(`${name}:1.4.3`),
    (name) => image(`${name}:1.4.2`),
  ),
  async time_unstated(weakness) {
    const asset = { type: 'repository' as const, name: `https://git.example.com/${weakness}` };
    const issue = { test_id: weakness, issue_text: 'A weakness', issue_severity: 'HIGH', filename: 'app.py', line_number: 3 };
    const upload = (bytes: Uint8Array, scope: ScanScope) =>
      service.engine.runFile(service.api().ours.id, { format: 'bandit', name: 'bandit.json', bytes }, { asset, ...scope });
    await upload(banditReport([issue], at(1)), complete(1));
    return upload(banditReport([]), { coverage: 'complete' });
  },
  async asset_unspecified(weakness) {
    const scope = (day: number) => complete(day, { asset: 'unspecified' });
    const other = seen({ asset: null, vulnerability_ids: [`${weakness}1`], location: { component: 'other' } });
    await run([seen({ asset: null, vulnerability_ids: [weakness] })], scope(1));
    return run([other], scope(3));
  },
  /** A partial scan of the same day took place later, but its report came first. */
  async seen_since(weakness) {
    const asset = image(`${weakness.toLowerCase()}:prod`);
    const it = seen({ asset, vulnerability_ids: [weakness] });
    await run([it, { run: { asset } }], { coverage: 'partial', started_at: at(3.1) });
    await run([it, { run: { asset } }], { coverage: 'partial', started_at: at(3.9) });
    return clean(asset, 3.5);
  },
};

describe('a finding that a complete scan does not report stays open, and says why', () => {
  it.each(Object.entries(scenarios) as [Blocker, Scenario][])('%s', async (code, scenario) => {
    const isRule = code === 'time_unstated';
    const weakness = `CVE-2026-${20_000 + Object.keys(scenarios).indexOf(code)}`;
    const missing = await scenario(weakness);
    const shown = await service.finding<Shown>(isRule ? `bandit:${weakness}` : weakness);
    expect(shown).toMatchObject({ status: 'open', still_open_because: [{ code, import_id: missing.id }], sightings: [{ missed: { because: [{ code }] } }] });
    expect(shown.still_open_because[0]?.sentence).toContain(blockers[code]);
    expect(missing.notes).toContainEqual(expect.stringContaining(blockers[code]));
  });
});
