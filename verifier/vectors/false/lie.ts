import { collectionOf, deriveEvidence, type Evidence, type Finding, PACKAGE_FORMATS, type TrailEvent } from '@rrs/evidence-format';
import type { Code } from '../../src/codes.ts';
import { type Files, type Recipe, writeManifests } from '../../src/testing/build.ts';
import { trailEvent } from '../../src/testing/sample-trail.ts';
import { atLeast, edit, failing, sealed, type Vector } from '../vector.ts';

/** A package that states something false, with readable files that say the same, sealed with the right keys. */
export function lie(name: string, codes: Code[], evidence: (evidence: Evidence) => void, truth: Recipe = {}): Vector {
  return atLeast(failing(`false: ${name}`, codes, sealed({ ...truth, evidence })));
}

export function lieAboutFinding(name: string, codes: Code[], change: Partial<Finding>, truth: Recipe = {}): Vector {
  return lie(name, codes, ({ findings }) => void Object.assign(findings[0] ?? {}, change), truth);
}

/** A trail that says something else than the evidence, which follows from the true trail. */
export function lieInTrail(name: string, codes: Code[], trail: (events: TrailEvent[]) => TrailEvent[], truth: Recipe = {}): Vector {
  return atLeast(failing(`false: ${name}`, codes, sealed({ ...truth, trail })));
}

/** A readable file that tells another story. */
export function otherStory(path: string, change: (text: string) => string): Vector {
  const tell = (files: Files) => edit(files, path, change);
  const isTag = !path.startsWith('data/');
  const recipe: Recipe = isTag
    ? {
        tags: (files) => {
          tell(files);
          writeManifests(files);
        },
      }
    : { payload: tell };
  const facts: Recipe['facts'] = (value) => {
    value.formats = [...PACKAGE_FORMATS];
  };
  return failing(`false: ${path} tells another story`, ['rendering'], sealed({ ...recipe, facts }));
}

/** Leaves the first event of a kind out of the trail. */
export function withoutFirst(isMeant: (event: TrailEvent) => boolean): (events: TrailEvent[]) => TrailEvent[] {
  return (events) => events.filter((_, at) => at !== events.findIndex(isMeant));
}

/** Adds an event to the end of the audit trail. */
export function add(events: TrailEvent[], event: Parameters<typeof trailEvent>[1]): void {
  events.push(trailEvent(60 + events.length, event));
}

/** The list of collected files follows the scans. */
export function collect(scans: Evidence['scans'], collection: Evidence['collection']): void {
  const stated = new Map(collectionOf(scans, [], new Map()).map((entry) => [entry.file, entry]));
  for (const entry of collection) Object.assign(entry, stated.get(entry.file));
}

/** Reports that are uploaded are stored as they are. */
export function store(scans: Evidence['scans'], sources: Evidence['sources']): void {
  for (const scan of scans) scan.original = 'bytes';
  for (const source of sources) source.kind = 'import';
}

/** Somebody changes facts, and everything that follows from them, but not the audit trail. */
export function againstTrail(name: string, codes: Code[], truth: NonNullable<Recipe['facts']>, change: (evidence: Evidence) => void): Vector {
  let events: TrailEvent[] = [];
  const recipe: Recipe = {
    facts: (facts, trail) => {
      truth(facts, trail);
      events = trail;
    },
    evidence: (evidence) => {
      change(evidence);
      Object.assign(evidence, deriveEvidence(evidence, events));
    },
  };
  return failing(`false: ${name}, and all that follows from it`, codes, sealed(recipe));
}

export const good = (name: string, facts: NonNullable<Recipe['facts']>): Vector => ({
  name: `good: ${name}`,
  verdict: 'verified',
  codes: [],
  make: sealed({ facts }),
});

/** Changes the first finding. */
export const about =
  (change: Partial<Finding>) =>
  ({ findings }: Evidence): void =>
    void Object.assign(findings[0] ?? {}, change);
