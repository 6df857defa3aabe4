import { hash } from 'node:crypto';
import { Hex } from '../../db/copy.ts';

/** The first 128 bits of the SHA-256 of a JSON value. */
export function digest(value: unknown): Hex {
  return new Hex(hash('sha256', JSON.stringify(value), 'hex').slice(0, 32));
}
