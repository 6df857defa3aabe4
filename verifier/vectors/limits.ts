import { chainLine, TRAIL_START, type TrailEvent, utf8 } from '@rrs/evidence-format';
import { LIMITS } from '../src/limits.ts';
import type { Recipe } from '../src/testing/build.ts';
import { largeRecipe } from '../src/testing/large.ts';
import { AT, findingId } from '../src/testing/sample.ts';
import { item, trailEvent } from '../src/testing/sample-trail.ts';
import { changed, edit, failing, sealed, type Vector } from './vector.ts';

const TRAIL = 'data/audit-trail.jsonl';
const FINDINGS = 'data/findings.jsonl';

/** An event whose line has this many bytes. */
function eventOf(length: number): TrailEvent {
  const event = trailEvent(30, { at: AT.sealed, action: 'work_item.updated', object: item, reason: '' });
  const { line } = chainLine({ ...event }, 14, TRAIL_START);
  return { ...event, reason: 'x'.repeat(length - line.length) };
}

const MANY = 3_000;

/** A work item about one weakness of many machines. */
const manyAssets: NonNullable<Recipe['facts']> = (facts, events) => {
  largeRecipe(MANY).facts?.(facts, events);
  const { assets, sources, findings } = facts;
  const [asset, source] = [assets[0], sources[0]];
  if (asset === undefined || source === undefined) return;
  for (const [number, finding] of findings.slice(2).entries()) {
    const [id, name] = [findingId(MANY + number), `web-${number}`];
    assets.push({ ...asset, id, name });
    sources.push({ ...source, asset_id: id });
    finding.asset = { ...finding.asset, id, name };
  }
};

/** Packages that are sealed correctly but exceed a limit of the verifier. */
export const limits: Vector[] = [
  {
    name: 'good: the longest line in the audit trail',
    verdict: 'verified',
    codes: [],
    make: sealed({ facts: (_, events) => void events.push(eventOf(LIMITS.trailLine)) }),
  },
  failing('a line in the audit trail that is too long', ['audit_trail'], sealed({ facts: (_, events) => void events.push(eventOf(LIMITS.trailLine + 1)) })),
  failing(
    'more audit events than evidence.json states',
    ['audit_trail'],
    sealed({
      evidence: ({ audit_trail }) => {
        audit_trail.events = 1;
      },
    }),
  ),
  failing(
    'more audit events than the verifier reads',
    ['too_large'],
    sealed({
      evidence: ({ audit_trail }) => {
        audit_trail.events = LIMITS.trailEvents + 1;
      },
    }),
  ),
  failing(
    'an audit trail without events',
    ['audit_trail'],
    sealed({
      payload: (files) => void files.set(TRAIL, utf8('{}\n'.repeat(200))),
      evidence: ({ audit_trail }) => {
        audit_trail.events = 200;
      },
    }),
  ),
  {
    name: 'good: thousands of assets',
    verdict: 'verified',
    codes: [],
    make: sealed({ facts: manyAssets }),
  },
  failing('evidence.json with too many values', ['schema'], sealed({ evidenceText: () => `[${'{},'.repeat(LIMITS.evidenceNodes / 2)}{}]\n` })),
  failing('evidence.json with many faults', ['schema'], sealed({ evidenceText: () => `[${'{},'.repeat(50_000)}{}]\n` })),
  failing('evidence.json that is too large', ['too_large'], sealed({ evidenceText: (text) => `${text}${' '.repeat(LIMITS.evidence)}` })),
  failing('a finding that is too long', ['schema'], sealed({ payload: (files) => void files.set(FINDINGS, utf8(`${' '.repeat(LIMITS.findingLine + 1)}\n`)) })),
  failing('findings with many faults', ['schema'], sealed({ payload: (files) => void files.set(FINDINGS, utf8('{}\n'.repeat(50_000))) })),
  failing('too many findings', ['schema'], sealed({ payload: (files) => void files.set(FINDINGS, utf8('\n'.repeat(LIMITS.findings + 1))) })),
  failing('a finding that is nested too deep', ['schema'], sealed({ payload: (files) => void files.set(FINDINGS, utf8(`${'['.repeat(100_000)}\n`)) })),
  failing(
    'a manifest of empty lines',
    ['manifest'],
    changed((files) => edit(files, 'manifest-sha256.txt', () => '\n'.repeat(5_000))),
  ),
  failing('a time limit that is too short', ['deadline'], async () => ({ ...(await sealed()()), options: { timeLimit: 0 } })),
];
