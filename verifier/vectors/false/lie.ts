import { type Evidence, type Finding, PACKAGE_FORMATS, type TrailEvent } from '@rrs/evidence-format';
import type { Code } from '../../src/codes.ts';
import { type Files, type Recipe, writeManifests } from '../../src/testing/build.ts';
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
