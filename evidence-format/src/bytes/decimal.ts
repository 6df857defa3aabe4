import { assertFormat } from './errors.ts';

/** Parses a whole number up to 2^53 - 1. Accepts only one notation per number. */
export function parseDecimal(text: string): number {
  assertFormat(/^(?:0|[1-9]\d{0,15})$/.test(text) && Number.isSafeInteger(Number(text)), `not a whole number: ${JSON.stringify(text.slice(0, 30))}`);
  return Number(text);
}

export function decimal(value: number): string {
  assertFormat(Number.isSafeInteger(value) && value >= 0, 'not a whole number');
  return String(value);
}
