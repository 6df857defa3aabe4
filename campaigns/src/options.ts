import { parseArgs } from 'node:util';

export interface Given {
  /** Numbers by the name of their option. */
  numbers: Partial<Record<string, number>>;
  texts: Partial<Record<string, string>>;
  long: boolean;
  positionals: string[];
}

/** Reads the options of a campaign. Prints the usage and ends the process if they ask for it or are wrong. */
export function readOptions(usage: string, names: { numbers: readonly string[]; texts?: readonly string[]; positionals?: readonly string[] }): Given {
  const { numbers, texts = [], positionals: allowed = [] } = names;
  const refuse = (message: string): never => {
    process.stderr.write(`${message}\n\n${usage}`);
    process.exit(2);
  };
  const valued = Object.fromEntries([...numbers, ...texts].map((name) => [name, { type: 'string' as const }]));
  const flags = { long: { type: 'boolean' as const }, help: { type: 'boolean' as const } };
  try {
    const { values, positionals } = parseArgs({ allowPositionals: allowed.length > 0, options: { ...valued, ...flags } });
    if (values.help === true) {
      process.stdout.write(usage);
      process.exit(0);
    }
    const unknown = positionals.filter((name) => !allowed.includes(name));
    if (unknown.length > 0) refuse(`${unknown.join(', ')} is not one of ${allowed.join(', ')}.`);
    const all: Record<string, unknown> = values;
    const given = (name: string): [string, string][] => (typeof all[name] === 'string' ? [[name, all[name]]] : []);
    const read = numbers.flatMap(given).map(([name, text]): [string, number] => {
      const number = Number(text);
      return [name, number >= 0 && text !== '' ? number : refuse(`--${name} must be a number of at least 0, not "${text}".`)];
    });
    return { numbers: Object.fromEntries(read), texts: Object.fromEntries(texts.flatMap(given)), long: values.long === true, positionals };
  } catch (error) {
    return refuse(error instanceof Error ? error.message : String(error));
  }
}
