/** Texts from outside can be very long and can contain U+0000 and halves of surrogate pairs, which PostgreSQL does not accept. */
export function storable(text: string, length = 2_000): string {
  return text.replaceAll('\0', '').slice(0, length).toWellFormed();
}
