/** One line of a state, such as `{"finding":{"id":"…","state":"open"}}`. The header has no id. */
interface Entry {
  kind: string;
  id: string;
  fields: Readonly<Record<string, unknown>>;
}

const KINDS = ['finding', 'unlinked', 'artifact'];
const NAMES: Readonly<Record<string, string>> = { unlinked: 'removed finding' };
const MAX_NAMED = 5;

/** Says in one sentence what changed between two states of a work item. The lines of both states are sorted in the same way. */
export function stateDifference(before: readonly string[], after: readonly string[]): string {
  const [was, is] = [entriesOf(before), entriesOf(after)];
  const changes = [
    ...[...is].flatMap(([key, entry]) => changesOf(was.get(key), entry)),
    ...[...was].filter(([key]) => !is.has(key)).map(([, entry]) => `${nameOf(entry)} is no longer there`),
  ];
  const more = changes.length > MAX_NAMED ? [`${changes.length - MAX_NAMED} more changes`] : [];
  return [...changes.slice(0, MAX_NAMED), ...more].join('; ');
}

function entriesOf(lines: readonly string[]): Map<string, Entry> {
  const entries = lines.map((line): Entry => {
    const parsed: Record<string, unknown> = JSON.parse(line);
    const kind = KINDS.find((name) => name in parsed);
    const fields = kind === undefined ? parsed : (parsed[kind] as Record<string, unknown>);
    return { kind: kind ?? 'work item', id: kind === undefined ? '' : String(fields.id), fields };
  });
  return new Map(entries.map((entry) => [`${entry.kind} ${entry.id}`, entry]));
}

function changesOf(was: Entry | undefined, is: Entry): string[] {
  if (was === undefined) return [`${nameOf(is)} is new`];
  return Object.entries(is.fields).flatMap(([field, value]) => {
    const [old, now] = [JSON.stringify(was.fields[field]), JSON.stringify(value)];
    return old === now ? [] : [`${nameOf(is)}: ${field} changed from ${old} to ${now}`];
  });
}

function nameOf({ kind, id }: Entry): string {
  return `${NAMES[kind] ?? kind} ${id}`.trim();
}
