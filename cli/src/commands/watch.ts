import type { EventPattern, RrsEvent } from '@rrs/client';
import { flagOf, listOf, numberOf, textOf } from '../arguments.ts';
import { type Command, EXIT } from '../command.ts';
import { painter, printable } from '../terminal.ts';

export const watch: Command = {
  options: {
    types: { type: 'string', multiple: true, value: 'LIST', help: 'Types of events, such as finding.* or import.failed. Default: all.' },
    since: { type: 'string', value: 'EVENT', help: 'Continue after this event. It prints those that happened since.' },
    count: { type: 'string', value: 'NUMBER', help: 'End after so many events. Default: never.' },
    json: { type: 'boolean', help: 'Print each event as a line of JSON.' },
  },
  examples: ['rrs watch', 'rrs watch --types import.*,finding.created', "rrs watch --types package.ready --count 1 --json | jq -r '.subject'"],
  async run(call) {
    const { terminal } = call;
    const [since, most, asJson] = [textOf(call, 'since'), numberOf(call, 'count') ?? Number.POSITIVE_INFINITY, flagOf(call, 'json')];
    const types = listOf(call, 'types');
    const stop = new AbortController();
    process.once('SIGINT', () => stop.abort()).once('SIGTERM', () => stop.abort());
    if (terminal.live) terminal.err('Waiting for events. Press Ctrl-C to stop.\n');
    let [seen, last] = [0, since];
    // The service checks the types and lists those that exist.
    const options = {
      signal: stop.signal,
      ...(types.length > 0 ? { types: types as EventPattern[] } : {}),
      ...(since === undefined ? {} : { lastEventId: since }),
    };
    for await (const event of call.client().events(options)) {
      terminal.out(asJson ? `${JSON.stringify(event)}\n` : lineOf(event, painter(terminal)));
      last = event.id;
      if (++seen >= most) break;
    }
    if (stop.signal.aborted && last !== undefined) terminal.err(`Continue with: rrs watch --since ${last}\n`);
    return EXIT.ok;
  },
};

function lineOf({ time, type, subject = '', data }: RrsEvent, paint: ReturnType<typeof painter>): string {
  const facts = typeof data === 'object' && data !== null ? Object.entries(data) : [];
  const shown = facts.filter(([, value]) => typeof value !== 'object').map(([name, value]) => `${name}=${value}`);
  return `${paint(time.slice(0, 19).replace('T', ' '), 'dim')}  ${paint(type, 'bold')}  ${subject}  ${printable(shown.join(' '))}`.trimEnd().concat('\n');
}
