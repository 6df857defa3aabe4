/** Random choices that are the same for the same seed on every machine. */
export interface Random {
  /** A number from 0 to `below` - 1. */
  number(below: number): number;
  pick<T>(from: readonly [T, ...T[]]): T;
  chance(probability: number): boolean;
  shuffled<T>(all: readonly T[]): T[];
}

export function randomOf(seed: number): Random {
  let state = (seed + 1) * 0x9e3779b9;
  // Mulberry32.
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const number = (below: number): number => Math.floor(next() * below);
  return {
    number,
    pick: (from) => from[number(from.length)] ?? from[0],
    chance: (probability) => next() < probability,
    shuffled: (all) => {
      const left = [...all];
      const shuffled = [];
      while (left.length > 0) shuffled.push(...left.splice(number(left.length), 1));
      return shuffled;
    },
  };
}
