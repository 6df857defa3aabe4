import { parseSync } from '@swc/core';
import { analyse } from 'scslre';
import { type Check, isTest, isTypeScript, lineAt, type Source, type Violation } from './sources.ts';

/** Most files have none of these, and parsing is what takes the time. */
const MAY_HAVE_ONE = /new RegExp\(|\bpattern: ['"`]|[(=,:?|&![]\s*\/(?![/*])/;
const REPORT_TYPES = { Move: true, Self: true, Trade: true };

/**
 * Regular expressions whose time grows faster than their input. V8 tries all ways to divide the input between two adjacent repetitions, and starts
 * again at every position, so a few ten thousand characters of an uploaded report can take minutes. The analysis is static: it may miss an expression,
 * but does not report one without a way to attack it.
 */
export const regularExpressions: Check = (sources) =>
  sources.filter((source) => isTypeScript(source) && !isTest(source) && MAY_HAVE_ONE.test(source.text)).flatMap(slowOnes);

function slowOnes(source: Source): Violation[] {
  const { path, text } = source;
  return expressionsIn(source).flatMap((expression) => {
    const { reports } = analyse(expression, { reportTypes: REPORT_TYPES });
    const [report] = reports;
    if (report === undefined) return [];
    const cause = report.type === 'Move' ? 'it starts again at each of many' : 'two repetitions share';
    const line = lineAt(text, text.indexOf(expression.written));
    return [
      {
        path,
        line,
        message: `/${expression.source}/ takes ${report.exponential ? 'exponential' : 'quadratic'} time: ${cause} ${report.character.literal.source}`,
      },
    ];
  });
}

interface Expression {
  source: string;
  flags: string;
  /** A part of the source text, to find the line. */
  written: string;
}

/** Literals, the arguments of `new RegExp` and the patterns of JSON Schemas. A substitution in a template counts as one letter. */
function expressionsIn({ path, text }: Source): Expression[] {
  const found: Expression[] = [];
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) value.forEach(visit);
    if (!isNode(value)) return;
    const expression = expressionOf(value);
    if (expression !== null) found.push(expression);
    for (const key in value) if (typeof value[key] === 'object' && key !== 'span') visit(value[key]);
  };
  visit(parseSync(text, { syntax: 'typescript', tsx: path.endsWith('.tsx'), target: 'es2024' }).body);
  return found;
}

type Node = Readonly<Record<string, unknown>>;

const isNode = (value: unknown): value is Node => value !== null && typeof value === 'object' && !Array.isArray(value);
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

function expressionOf(node: Node): Expression | null {
  if (node.type === 'RegExpLiteral') return { source: textOf(node.pattern), flags: textOf(node.flags), written: `/${textOf(node.pattern)}/` };
  if (node.type === 'NewExpression' && isNode(node.callee) && node.callee.value === 'RegExp' && Array.isArray(node.arguments)) {
    const [pattern, flags] = node.arguments.map((argument) => (isNode(argument) && isNode(argument.expression) ? argument.expression : {}));
    return fromText(pattern, flags?.type === 'StringLiteral' ? textOf(flags.value) : '');
  }
  if (node.type === 'KeyValueProperty' && isNode(node.key) && node.key.value === 'pattern' && isNode(node.value)) return fromText(node.value, 'u');
  return null;
}

function fromText(node: Node | undefined, flags: string): Expression | null {
  if (node?.type === 'StringLiteral') return { source: textOf(node.value), flags, written: textOf(node.raw) };
  if (node?.type !== 'TemplateLiteral' || !Array.isArray(node.quasis)) return null;
  const parts = node.quasis.filter(isNode);
  return { source: parts.map(({ cooked }) => textOf(cooked)).join('x'), flags, written: textOf(parts.find(({ raw }) => raw !== '')?.raw) };
}
