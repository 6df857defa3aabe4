import { formats, fromBuffer } from '@rrs/scan-reports';
import type { Engine } from '../../findings/imports.ts';
import { createLabels, type LabelledReport } from './report.ts';
import { labelledReports } from './reports.ts';

/** A record of a report: what it is about in truth, and the finding that it became part of. */
interface Record {
  tool: string;
  label: string;
  finding: string;
}

interface PairCounts {
  /** Pairs with one label in one finding, with different labels in one finding, with one label in different findings. */
  right: number;
  wrong: number;
  missed: number;
}

export interface LabelledResult extends PairCounts {
  records: number;
  tools: string[];
  precision: number;
  recall: number;
  /** Pairs of tools of which some records did not meet, and examples of wrong and missed pairs. */
  missedBy: Map<string, number>;
  examples: string[];
}

/** Imports what all tools say about some worlds, each in an organization of its own, and compares every pair of records with the labels. */
export async function measureLabelledPairs(engine: Engine, seeds: readonly number[], assetsOfEach = 3): Promise<LabelledResult> {
  await keepMembers(engine);
  const records: Record[][] = [];
  for (const seed of seeds) records.push(await importWorld(engine, seed, assetsOfEach));
  return compare(records);
}

async function importWorld(engine: Engine, seed: number, assetsOfEach: number): Promise<Record[]> {
  const org = await engine.organization();
  const labels = createLabels();
  const told: { importId: string; n: number; tool: string; label: string }[] = [];
  for (const report of labelledReports(seed, labels, assetsOfEach)) {
    const { id, status, error } = await engine.runFile(org, { format: report.format, name: report.name, bytes: Buffer.from(report.text) }, report.scope);
    if (status !== 'succeeded') throw new Error(`${report.tool}: ${JSON.stringify(error)}`);
    for (const [n, observation] of (await observationsOf(report)).entries()) {
      const label = labels.of(observation, report);
      if (label === undefined) throw new Error(`${report.tool}: no label for ${JSON.stringify(observation)}`);
      told.push({ importId: id, n: n + 1, tool: report.tool, label });
    }
  }
  const findings = await findingsOf(engine, org);
  return told.map(({ importId, n, tool, label }) => {
    // Of records that became one finding for different reasons, only one leaves a trace. The others count as missed.
    return { tool, label, finding: findings.get(`${importId} ${n}`) ?? `record ${n} of ${importId}` };
  });
}

async function observationsOf({ format, name, text }: LabelledReport) {
  const reader = formats.find(({ id }) => id === format);
  const observations = [];
  for await (const item of reader?.read(fromBuffer(text, name)) ?? []) {
    if ('rejection' in item) throw new Error(`${format}: ${JSON.stringify(item.rejection)}`);
    if ('observation' in item) observations.push(item.observation);
  }
  return observations;
}

/** Keeps which record became part of which finding. The import deletes it when it is done. */
async function keepMembers({ admin }: Engine): Promise<void> {
  await admin().query(`
    create table if not exists kept_members (org_id uuid, import_id uuid, n integer, finding_id uuid);
    create or replace function keep_members() returns trigger language plpgsql security definer set search_path = rrs as $$
      begin
        insert into kept_members select old.org_id, old.import_id, unnest(old.members), old.finding_id;
        return old;
      end
    $$;
    create or replace trigger keep_members before delete on import_groups for each row execute function keep_members()`);
}

async function findingsOf({ admin }: Engine, org: string): Promise<Map<string, string>> {
  const { rows } = await admin().query<{ record: string; finding: string }>(
    `with recursive kept as (
       select import_id || ' ' || n as record, finding_id from kept_members where org_id = $1
       union all select kept.record, f.merged_into from kept join findings f on f.org_id = $1 and f.id = kept.finding_id where f.merged_into is not null
     )
     select record, finding_id as finding from kept join findings f on f.org_id = $1 and f.id = kept.finding_id and f.merged_into is null`,
    [org],
  );
  return new Map(rows.map(({ record, finding }) => [record, finding]));
}

const EXAMPLES = 20;

function compare(worlds: readonly Record[][]): LabelledResult {
  const counts = { right: 0, wrong: 0, missed: 0 };
  const missedBy = new Map<string, number>();
  const examples = new Set<string>();
  const note = (text: string): void => {
    if (examples.size < EXAMPLES) examples.add(text);
  };
  for (const records of worlds) {
    for (const [at, one] of records.entries()) {
      for (const other of records.slice(at + 1)) {
        const isOne = one.finding === other.finding;
        if (one.label === other.label && isOne) counts.right++;
        else if (isOne) {
          counts.wrong++;
          note(`wrong: ${one.tool} "${one.label}", ${other.tool} "${other.label}"`);
        } else if (one.label === other.label) {
          counts.missed++;
          const between = [one.tool, other.tool].sort().join(' and ');
          missedBy.set(between, (missedBy.get(between) ?? 0) + 1);
          if (missedBy.get(between) === 1) note(`missed: ${between} "${one.label}"`);
        }
      }
    }
  }
  return {
    ...counts,
    records: worlds.reduce((sum, records) => sum + records.length, 0),
    tools: [...new Set(worlds.flatMap((records) => records.map(({ tool }) => tool)))].sort(),
    precision: counts.right / (counts.right + counts.wrong),
    recall: counts.right / (counts.right + counts.missed),
    missedBy,
    examples: [...examples],
  };
}
