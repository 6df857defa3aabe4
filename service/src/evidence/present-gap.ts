import { type Gap, gapSentence } from '@rrs/evidence-format';

export function toGap(gap: Gap) {
  return { code: gap.code, weight: gap.weight, what: gapSentence(gap), about: gap.about };
}
