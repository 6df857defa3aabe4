import { container } from './container.ts';
import { content } from './content.ts';
import { falseDecisions } from './false/decided.ts';
import { falseFacts } from './false/facts.ts';
import { falseHistories } from './false/histories.ts';
import { impossible } from './false/impossible.ts';
import { recorded } from './false/recorded.ts';
import { falseResults } from './false/results.ts';
import { history } from './history.ts';
import { limits } from './limits.ts';
import { log } from './log.ts';
import { previous } from './previous.ts';
import { proof } from './proof.ts';
import { succession } from './succession.ts';
import { time } from './time.ts';
import type { Vector } from './vector.ts';
import { witnesses } from './witnesses.ts';

/** Valid packages, and one package for each kind of tampering with the codes that the verifier must report. */
export const vectors: Vector[] = [
  ...proof,
  ...log,
  ...history,
  ...previous,
  ...witnesses,
  ...succession,
  ...time,
  ...content,
  ...falseFacts,
  ...falseResults,
  ...recorded,
  ...falseDecisions,
  ...falseHistories,
  ...impossible,
  ...container,
  ...limits,
];
