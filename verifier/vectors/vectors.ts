import { container } from './container.ts';
import { content } from './content.ts';
import { history } from './history.ts';
import { limits } from './limits.ts';
import { log } from './log.ts';
import { proof } from './proof.ts';
import { succession } from './succession.ts';
import { time } from './time.ts';
import type { Vector } from './vector.ts';
import { witnesses } from './witnesses.ts';

/** Valid packages, and one package for each kind of tampering with the codes that the verifier must report. */
export const vectors: Vector[] = [...proof, ...log, ...history, ...witnesses, ...succession, ...time, ...content, ...container, ...limits];
