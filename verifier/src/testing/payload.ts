import {
  type Approval,
  approvedStateLines,
  approvedStateOf,
  chainLine,
  deriveEvidence,
  type Evidence,
  evidenceText,
  type Facts,
  findingsText,
  type RenderContext,
  sha256Hex,
  TRAIL_START,
  type TrailEvent,
  utf8,
} from '@rrs/evidence-format';
import { EVIDENCE, FINDINGS, TRAIL } from '../recompute/fault.ts';
import { approvalPath } from '../recompute/files.ts';
import { PDF, readableFiles } from '../rendering/readable-files.ts';
import { PATHS, sampleFacts } from './sample.ts';
import { packageEvents, packageRequest, sampleTrail } from './sample-trail.ts';

/** Keyed by the path below the top folder. */
export type Files = Map<string, Uint8Array>;

/** Hooks that change the payload after each stage. Later stages use the changed content. */
export interface PayloadRecipe {
  /** Original files: scans and artifacts. */
  originals?(files: Files): void;
  /** What is true. The package is true as well, unless a later hook changes it. */
  facts?(facts: Facts, events: TrailEvent[]): void;
  /** What the audit trail says, if it does not tell the truth. */
  trail?(events: TrailEvent[]): TrailEvent[];
  /** What evidence.json and findings.jsonl say, if they do not tell the truth. The readable files say the same. */
  evidence?(evidence: Evidence): void;
  evidenceText?(text: string): string;
  findingsText?(text: string): string;
  /** The finished payload. */
  payload?(files: Files): void;
}

interface Sealing {
  stamped: boolean;
  keys: RenderContext['keys'];
}

/** Builds a small complete payload as the service does. */
export function payloadOf(recipe: PayloadRecipe, { stamped, keys }: Sealing): { files: Files; evidence: Evidence } {
  const files = originals();
  recipe.originals?.(files);
  const listed = [...files].map(([path, bytes]) => ({ path, sha256: sha256Hex(bytes), size: bytes.length }));
  // A copy, because the sample shares objects.
  const facts: Facts = JSON.parse(JSON.stringify({ ...sampleFacts(listed), timestamped: stamped }));
  const truth = sampleTrail();
  recipe.facts?.(facts, truth);
  record(facts, truth);
  approve(facts, truth, files);
  const events = recipe.trail?.(truth) ?? truth;
  addTrail(facts, events, files);
  const evidence = deriveEvidence(facts, truth);
  recipe.evidence?.(evidence);
  const texts = { [EVIDENCE]: [...evidenceText(evidence)].join(''), [FINDINGS]: [...findingsText(evidence)].join('') };
  files.set(EVIDENCE, utf8(recipe.evidenceText?.(texts[EVIDENCE] ?? '') ?? texts[EVIDENCE] ?? ''));
  files.set(FINDINGS, utf8(recipe.findingsText?.(texts[FINDINGS] ?? '') ?? texts[FINDINGS] ?? ''));
  const hash = (path: string) => sha256Hex(files.get(path) ?? new Uint8Array());
  const context = { keys, sha256: { evidence: hash(EVIDENCE), findings: hash(FINDINGS) } };
  for (const { path, text } of readableFiles(evidence, context)) files.set(path, utf8([...text()].join('')));
  if (evidence.formats.includes('pdf')) files.set(PDF, utf8('%PDF-1.7 a report'));
  recipe.payload?.(files);
  return { files, evidence };
}

function originals(): Files {
  return new Map([
    [PATHS.before, utf8('{"runs":[1,2]}')],
    [PATHS.after, utf8('{"runs":[]}')],
    [PATHS.artifact, utf8('Approved and deployed.')],
  ]);
}

/** The trail records what the facts say, as the service writes both. */
function record({ work_item, artifacts, package_id, sequence, note, earlier }: Facts, events: TrailEvent[]): void {
  for (const one of earlier) if (!events.some(({ object }) => object.id === one.package_id)) events.push(...packageEvents(events.length + 1, one));
  if (!events.some(({ object }) => object.id === package_id)) events.push(packageRequest(events.length + 1, package_id));
  const { title, description, priority, assignee, due_at, external_ref, follows } = work_item;
  for (const event of events) {
    if (event.action === 'work_item.created') event.after = { title, description, priority, assignee, due_at, external_ref, follows };
    if (event.action === 'package.requested' && event.object.id === package_id) event.after = { sequence, note };
    const artifact = event.action === 'artifact.added' ? artifacts.find(({ id }) => id === event.object.id) : undefined;
    if (artifact !== undefined) {
      const { type, filename, media_type, occurred_at, url } = artifact;
      event.after = { work_item_id: work_item.id, type, title: artifact.title, description: artifact.description, filename, media_type, occurred_at, url };
    }
  }
}

/** Everybody approves the present state, unless the facts already say which one. */
function approve(facts: Facts, events: TrailEvent[], files: Files): void {
  const state = [...approvedStateLines(approvedStateOf(deriveEvidence(facts, events)))].map((line) => `${line}\n`).join('');
  for (const approval of facts.approvals) {
    files.set(approvalPath(approval.id), utf8(state));
    approval.state_sha256 = sha256Hex(utf8(state));
  }
  for (const { action, after } of events)
    if (action === 'work_item.approved' || action === 'work_item.rejected') Object.assign(after as Approval, { state_digest: sha256Hex(utf8(state)) });
}

function addTrail(facts: Facts, events: readonly TrailEvent[], files: Files): void {
  let head = TRAIL_START;
  let text = '';
  for (const [index, event] of events.entries()) {
    const { line, hash } = chainLine({ ...event }, index + 1, head);
    head = hash;
    text += `${line}\n`;
  }
  files.set(TRAIL, utf8(text));
  facts.audit_trail = { file: TRAIL, events: events.length, head };
}
