import { hash } from 'node:crypto';
import { Hex } from '../../db/copy.ts';

/** 128 bits of what is said. */
export function digest(value: unknown): Hex {
  return new Hex(hash('sha256', JSON.stringify(value), 'hex').slice(0, 32));
}
