/** The input does not conform to the format. Any other exception from this package is a programming error. */
export class FormatError extends Error {
  override readonly name = 'FormatError';
}

export function assertFormat(condition: boolean, message: string): asserts condition {
  if (!condition) throw new FormatError(message);
}
