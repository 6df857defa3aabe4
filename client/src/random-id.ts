/** An id that nobody guesses. `crypto.randomUUID` would do, but browsers have it only on https and on localhost. */
export const randomId = (): string => [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
