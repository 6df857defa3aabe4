/** Characters of the remembered texts, and what an entry costs beside them. */
const MAX_CHARACTERS = 4_000_000;
const ENTRY = 100;

/** Remembers what a function of a text returned, because reports repeat names and texts many times. When they get too many, it forgets all of them. */
export function remembered<Result>(compute: (text: string) => Result): (text: string) => Result {
  const results = new Map<string, Result>();
  let characters = 0;
  return (text) => {
    const known = results.get(text);
    if (known !== undefined) return known;
    const result = compute(text);
    const key = copyOf(text);
    // Half of a surrogate pair cannot be encoded.
    if (key !== text) return result;
    characters += text.length + ENTRY;
    if (characters > MAX_CHARACTERS) {
      results.clear();
      characters = text.length + ENTRY;
    }
    results.set(key, result);
    return result;
  };
}

/** A text that was cut out of a larger one keeps all of that in memory. */
function copyOf(text: string): string {
  return Buffer.from(text).toString();
}
