import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import {
  type Bundle,
  canonicalJson,
  type Evidence,
  evidenceSchema,
  evidenceText,
  findingSchema,
  findingsText,
  parseBundle,
  type TrailEvent,
  utf8,
} from '@rrs/evidence-format';
import { expect, test } from 'vitest';
import type { OpenedPackage, StoredFile } from './archive/read-package.ts';
import { bytesSource } from './archive/source.ts';
import { checkLogFacts } from './checks/log-facts.ts';
import { checkTimes } from './checks/times.ts';
import { nodePlatform } from './node.ts';
import { checkEvidence } from './recompute/check-evidence.ts';
import { EVIDENCE, FINDINGS } from './recompute/fault.ts';
import { createRecorder } from './report.ts';
import { UNCONFIRMED } from './taken-on-trust.ts';
import { buildPackage, ORIGIN, zipOf } from './testing/build.ts';
import { type Change, changesOf } from './testing/changes.ts';
import { consequencesOf } from './testing/consequences.ts';
import { eventful } from './testing/eventful.ts';
import { epochOf } from './testing/log.ts';
import { emptyTrust, parseTrust } from './trust/trust.ts';
import { verifyPackage } from './verify.ts';

let evidence: Evidence | undefined;
let events: TrailEvent[] = [];
const built = await buildPackage({
  facts: eventful,
  trail: (truth) => {
    events = truth;
    return truth;
  },
  evidence: (value) => {
    evidence = structuredClone(value);
  },
});
if (evidence === undefined) throw new Error('the sample has no evidence');
const stated: Evidence = evidence;
const truth = canonicalJson(stated);
const bundle: Bundle = parseBundle(Buffer.from(built.files.get('proof/package.sigstore.json') ?? []).toString());
const platform = nodePlatform();
/** About how many changes are also signed, which takes longer. */
const SIGNED = 15;

function* allChanges(): Generator<Change & { file: string }> {
  for (const change of changesOf(evidenceSchema, stated)) yield { ...change, file: EVIDENCE };
  for (const finding of stated.findings) for (const change of changesOf(findingSchema, finding)) yield { ...change, file: FINDINGS };
}

function storedFile(bytes: Uint8Array): StoredFile {
  return {
    size: bytes.length,
    sha256: createHash('sha256').update(bytes).digest('hex'),
    bytes,
    async *reread() {
      yield bytes;
    },
  };
}

const unchanged = new Map([...built.files].map(([path, bytes]) => [path, storedFile(bytes)]));

/** Checks the content as if it were signed, without the readable files: whoever signs a false statement also writes them. */
async function failuresOf(changed: Evidence): Promise<string[]> {
  const files = new Map(unchanged);
  files.set(EVIDENCE, storedFile(utf8([...evidenceText(changed)].join(''))));
  files.set(FINDINGS, storedFile(utf8([...findingsText(changed)].join(''))));
  const opened: OpenedPackage = { folder: { workItemId: stated.work_item.id, sequence: stated.sequence }, files, bytes: 0 };
  const recorder = createRecorder();
  const context = { opened, recorder, platform, trust: parseTrust(emptyTrust()), now: Date.parse('2031-01-01T00:00:00Z'), onEvent: () => {} };
  const content = await checkEvidence(context);
  if (content === null) return recorder.failures.map(({ code }) => code);
  const log = { origin: ORIGIN, index: 6, size: 7, root: new Uint8Array(32), logKey: null, noteKey: null, checkpoint: null };
  checkLogFacts(context, content.document, { log, bundle, epoch: epochOf(undefined) });
  checkTimes(context, { generatedAt: content.document.generated_at, timestamps: [], bundle, keys: { package: null, log: null, note: null } });
  return recorder.failures.map(({ code }) => code);
}

test('the documentation names the fields that are taken on trust, with the same reasons', () => {
  const page = readFileSync(new URL('../../docs/evidence-package.md', import.meta.url), 'utf8');
  const [, section = ''] = /### Fields that nothing confirms\n([\s\S]*?)(?:\n##|$)/.exec(page) ?? [];
  const rows = UNCONFIRMED.map(({ code, why, fields }) => `- \`${code}\`: ${why} ${fields.map((field) => `\`${field}\``).join(', ')}`);
  expect([...section.matchAll(/^- .*$/gm)].map(([row]) => row)).toEqual(rows);
});

/** Whether the change passes, alone or with everything that follows from it. */
async function isAccepted(changed: Evidence): Promise<boolean> {
  if ((await failuresOf(changed)).length === 0) return true;
  const consequent = consequencesOf(changed, events);
  return canonicalJson(consequent) !== truth && (await failuresOf(consequent)).length === 0;
}

test('one false value in the evidence is refused, also with all that follows from it, unless it is named as taken on trust', { timeout: 120_000 }, async () => {
  expect(await failuresOf(stated)).toEqual([]);
  const accepted = new Set<string>();
  for (const { file, field, apply } of allChanges()) {
    const name = file === FINDINGS ? `findings.${field}` : field;
    if (accepted.has(name)) continue;
    const undo = apply();
    if (await isAccepted(stated)) accepted.add(name);
    undo();
  }
  expect([...accepted].sort()).toEqual(UNCONFIRMED.flatMap(({ fields }) => fields).sort());
});

test('the same holds for packages that are signed again', async () => {
  // Whoever seals again may choose other formats, which is no false statement.
  const changes = [...allChanges()].filter(({ field }) => !field.startsWith('formats'));
  const step = Math.floor(changes.length / SIGNED);
  for (const { what, apply } of changes.filter((_, index) => index % step === 7)) {
    const undo = apply();
    const changed = structuredClone(stated);
    const isRefused = (await failuresOf(stated)).length > 0;
    undo();
    const signed = await buildPackage({ facts: eventful, evidence: (value) => void Object.assign(value, changed) });
    const { verdict } = await verifyPackage(bytesSource(await zipOf(signed)), signed.trust, platform);
    expect(verdict, what).toBe(isRefused ? 'failed' : 'verified');
  }
});
