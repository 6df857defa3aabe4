/** The input is not what the format asks for. Everything else that is thrown here is a mistake of the caller or of this code. */
export class FormatError extends Error {
  override readonly name = 'FormatError';
}

export function assertFormat(condition: boolean, message: string): asserts condition {
  if (!condition) throw new FormatError(message);
}
