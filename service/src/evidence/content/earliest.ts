/** Not `Math.min`, which cannot take as many arguments as a work item can have findings. */
export function earliest(first: Date, others: readonly (Date | null)[]): Date {
  return others.reduce<Date>((least, time) => (time && time < least ? time : least), first);
}
