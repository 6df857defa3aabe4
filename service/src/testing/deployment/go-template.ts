/**
 * The part of Go's templates and of Helm's functions that our chart uses. Helm itself is not on every machine. What is not known here is refused, so that
 * no test passes because a part of a template was ignored.
 */
type Value = unknown;
type Node = string | { kind: 'print' | 'if' | 'with' | 'range' | 'define'; text: string; body: Node[]; otherwise: Node[] };
interface Scope {
  dot: Value;
  variables: Readonly<Record<string, Value>>;
}

export function renderer(files: Readonly<Record<string, string>>, root: Readonly<Record<string, Value>>, toYaml: (value: Value) => string) {
  const parsed = Object.fromEntries(Object.entries(files).map(([name, text]) => [name, parse(text)]));
  const defined = new Map(
    Object.values(parsed)
      .flat()
      .flatMap((node): [string, Node[]][] => (typeof node !== 'string' && node.kind === 'define' ? [[JSON.parse(node.text), node.body]] : [])),
  );
  const functions: Readonly<Record<string, (...given: Value[]) => Value>> = {
    quote: (value) => JSON.stringify(String(value)),
    lower: (value) => String(value).toLowerCase(),
    replace: (from, to, value) => String(value).replaceAll(String(from), String(to)),
    printf: (format, ...values) => String(format).replaceAll('%s', () => String(values.shift())),
    default: (otherwise, value) => (isTrue(value) ? value : otherwise),
    not: (value) => !isTrue(value),
    toYaml,
    nindent: (count, value) => `\n${String(value)}`.replaceAll('\n', `\n${' '.repeat(Number(count))}`),
    required: (message, value) => {
      if (value === undefined || value === null || value === '') throw new Error(String(message));
      return value;
    },
    include: (name, dot) => {
      const nodes = defined.get(String(name));
      if (!nodes) throw new Error(`no template "${String(name)}"`);
      return render(nodes, { dot, variables: { $: dot } });
    },
  };

  function render(nodes: readonly Node[], scope: Scope): string {
    return nodes.map((node) => (typeof node === 'string' ? node : renderAction(node, scope))).join('');
  }

  function renderAction({ kind, text, body, otherwise }: Exclude<Node, string>, scope: Scope): string {
    if (kind === 'define') return '';
    if (kind === 'range') return renderRange(text, body, scope);
    const value = evaluate(text, scope);
    if (kind === 'print') return String(value ?? '');
    if (!isTrue(value)) return render(otherwise, scope);
    return render(body, kind === 'with' ? { ...scope, dot: value } : scope);
  }

  function renderRange(text: string, body: readonly Node[], scope: Scope): string {
    const [, key, item, list = text] = /^\$(\w+), \$(\w+) := (.+)$/.exec(text) ?? [];
    const entries = Object.entries(Object(evaluate(list, scope))).sort(([a], [b]) => (a < b ? -1 : 1));
    return entries
      .map(([name, value]) => render(body, { dot: value, variables: key && item ? { ...scope.variables, [key]: name, [item]: value } : scope.variables }))
      .join('');
  }

  function evaluate(text: string, scope: Scope): Value {
    const words = text.match(/"(?:[^"\\]|\\.)*"|[()|]|[^\s()|]+/g) ?? [];
    let at = 0;
    const pipeline = (): Value => {
      let value: Value;
      for (let isFirst = true; at < words.length && words[at] !== ')'; isFirst = false) value = call(isFirst ? [] : [value]);
      return value;
    };
    const call = (piped: readonly Value[]): Value => {
      if (words[at] === '|') at++;
      const name = words[at] ?? '';
      const called = functions[name];
      if (called) at++;
      const given: Value[] = [];
      while (at < words.length && words[at] !== '|' && words[at] !== ')') given.push(operand());
      if (called) return called(...given, ...piped);
      if (given.length !== 1 || piped.length > 0) throw new Error(`"${name}" is not a function that is known here`);
      return given[0];
    };
    const operand = (): Value => {
      const word = words[at++] ?? '';
      if (word === '(') {
        const value = pipeline();
        at++;
        return value;
      }
      if (word.startsWith('"')) return JSON.parse(word);
      if (/^\d+$/.test(word)) return Number(word);
      const [, variable, path] = /^(?:\$(\w*))?((?:\.\w*)*)$/.exec(word) ?? [];
      if (path === undefined) throw new Error(`"${word}" in {{ ${text} }} is not known here`);
      const start = variable === undefined ? scope.dot : variable === '' ? root : scope.variables[variable];
      return path
        .split('.')
        .filter((name) => name !== '')
        .reduce<Value>((value, name) => Object(value)[name], start);
    };
    return pipeline();
  }

  return (name: string): string => render(parsed[name] ?? [], { dot: root, variables: {} });
}

const isTrue = (value: Value): boolean => (typeof value === 'object' && value !== null ? Object.keys(value).length > 0 : Boolean(value));

/** "{{-" and "-}}" also remove the white space before and after. */
function parse(template: string): Node[] {
  const parts = template
    .replaceAll(/\s*\{\{- /g, '{{ ')
    .replaceAll(/ -\}\}\s*/g, ' }}')
    .split(/\{\{ (.*?) \}\}/);
  const top: Node[] = [];
  const open: { node: Exclude<Node, string>; into: Node[] }[] = [];
  for (const [n, part] of parts.entries()) {
    const into = open.at(-1)?.into ?? top;
    const [, word = '', rest = ''] = /^(if|with|range|define|else|end)\b ?(.*)$/.exec(part) ?? [];
    if (n % 2 === 0) into.push(part);
    else if (word === 'end') open.pop();
    else if (word === 'else') {
      const last = open.at(-1);
      if (last) last.into = last.node.otherwise;
    } else {
      const node: Exclude<Node, string> = { kind: isBlock(word) ? word : 'print', text: isBlock(word) ? rest : part, body: [], otherwise: [] };
      into.push(node);
      if (isBlock(word)) open.push({ node, into: node.body });
    }
  }
  if (open.length > 0) throw new Error(`{{ ${open[0]?.node.kind} ${open[0]?.node.text} }} has no end`);
  return top;
}

const isBlock = (word: string): word is 'if' | 'with' | 'range' | 'define' => ['if', 'with', 'range', 'define'].includes(word);
