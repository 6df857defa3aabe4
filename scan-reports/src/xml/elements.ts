import { SaxesParser } from 'saxes';
import { ReportError, type ReportInput } from '../contract.ts';
import { textBytes } from '../shared/input.ts';
import { bounded, MAX_STRING } from '../shared/read.ts';

/** An element with its content. Names are local names, because reports use arbitrary prefixes. */
export interface XmlElement {
  name: string;
  attributes: Readonly<Record<string, string>>;
  /** The text directly inside the element, trimmed. */
  text: string;
  children: readonly XmlElement[];
}

export interface XmlMatch {
  element: XmlElement;
  /** Index of the path that the element matched. */
  pattern: number;
  /** The ancestors, outermost first, with their attributes but without their content. */
  parents: readonly { name: string; attributes: Readonly<Record<string, string>>; index: number }[];
  /** Position in the file: `ReportHost[2]/ReportItem[7]`, counted from 1 among siblings of the same name. */
  place: string;
}

const MAX_DEPTH = 200;
const MAX_ELEMENT_CHARACTERS = 16 * 1024 * 1024;
/** The parser keeps a tag, comment or CDATA section in memory until it ends, even outside wanted elements. */
const MAX_TOKEN_BYTES = 64 * 1024 * 1024;
/** Memory overhead of an element, counted as characters. */
const ELEMENT_OVERHEAD = 100;

interface OpenElement {
  name: string;
  attributes: Record<string, string>;
  index: number;
  counts: Map<string, number> | null;
}

interface PartialElement {
  name: string;
  attributes: Record<string, string>;
  text: string;
  children: PartialElement[];
}

interface Pattern {
  anyDepth: boolean;
  segments: readonly string[];
  /** True if only the start tag is wanted. */
  tagOnly: boolean;
}

// Only structural errors reject a report. Tools write stray control characters and bare "&", which are harmless.
const STRUCTURAL_ERROR = /unclosed|unexpected close|unmatched|text data outside|document must|only one root|unexpected end/i;

/**
 * Yields the elements at the given paths when they end. Paths start at the root: `NessusClientData_v2/Report/ReportHost`. The segment
 * `*` is any name, a leading `**` any depth. A path that ends with `@` yields only the attributes, when the element starts; other paths may
 * match elements inside it. Only XML's five predefined entities are expanded and no DTD is read, so that a report
 * cannot cause entity expansion or access to files and network.
 */
export async function* xmlElements(input: ReportInput, paths: readonly string[]): AsyncGenerator<XmlMatch> {
  const patterns = paths.map((path): Pattern => {
    const tagOnly = path.endsWith('/@');
    const segments = (tagOnly ? path.slice(0, -2) : path).split('/');
    return segments[0] === '**' ? { anyDepth: true, segments: segments.slice(1), tagOnly } : { anyDepth: false, segments, tagOnly };
  });
  const parser = new SaxesParser({ xmlns: false, position: false, fragment: false });
  const open: OpenElement[] = [];
  /** The open matched element and its open descendants. */
  const building: PartialElement[] = [];
  let found: XmlMatch[] = [];
  let pattern = -1;
  let size = 0;
  /** Bytes since the last token ended. */
  let pendingBytes = 0;
  let syntaxError: Error | null = null;
  let ended = false;

  const add = (element: XmlElement): void => {
    found.push({
      element,
      pattern,
      parents: open.slice(0, -1).map(({ name, attributes, index }) => ({ name, attributes, index })),
      place: open
        .slice(1)
        .map(({ name, index }) => `${name}[${index}]`)
        .join('/'),
    });
  };
  const grow = (characters: number): void => {
    size += characters;
    if (size > MAX_ELEMENT_CHARACTERS) throw new ReportError(`The XML element ${building[0]?.name} has more than ${MAX_ELEMENT_CHARACTERS} characters.`);
  };
  const enter = (element: PartialElement): void => {
    building.push(element);
    grow(ELEMENT_OVERHEAD);
  };
  const addText = (text: string): void => {
    pendingBytes = 0;
    const current = building.at(-1);
    if (!current) return;
    grow(text.length);
    current.text += text;
  };

  parser.on('error', (error) => {
    if (STRUCTURAL_ERROR.test(error.message)) syntaxError ??= error;
  });
  parser.on('opentag', ({ name, attributes }) => {
    pendingBytes = 0;
    const local = localName(name);
    const plain = localNames(attributes);
    if (open.length + building.length > MAX_DEPTH) throw new ReportError(`The XML is nested more than ${MAX_DEPTH} levels deep.`);
    const container = building.at(-1);
    if (container) {
      const element = { name: local, attributes: plain, text: '', children: [] };
      container.children.push(element);
      enter(element);
      return;
    }
    const parent = open.at(-1);
    open.push({ name: local, attributes: plain, index: parent ? nextIndex(parent, local) : 1, counts: null });
    pattern = patterns.findIndex((one) => matches(one, open));
    if (pattern === -1) return;
    if (patterns[pattern]?.tagOnly) {
      add({ name: local, attributes: plain, text: '', children: [] });
      return;
    }
    size = 0;
    enter({ name: local, attributes: plain, text: '', children: [] });
    // Added only now, because the parser skips text faster without a handler.
    parser.on('text', addText);
  });
  parser.on('cdata', addText);
  parser.on('comment', () => {
    pendingBytes = 0;
  });
  parser.on('closetag', () => {
    pendingBytes = 0;
    const done = building.pop();
    if (done) {
      done.text = bounded(done.text);
      if (building.length > 0) return;
      parser.off('text');
      add(done);
    }
    open.pop();
    if (open.length === 0) ended = true;
  });

  const decoder = new TextDecoder('utf-8');
  for await (const chunk of textBytes(input)) {
    pendingBytes += chunk.length;
    parser.write(decoder.decode(chunk, { stream: true }));
    if (syntaxError) throw new ReportError(`The file is not well-formed XML: ${(syntaxError as Error).message}.`, { cause: syntaxError });
    const limit = building.length > 0 ? MAX_ELEMENT_CHARACTERS : MAX_TOKEN_BYTES;
    if (pendingBytes > limit) throw new ReportError(`The XML has a text or tag of more than ${limit} bytes.`);
    for (const match of found) yield match;
    found = [];
  }
  if (!ended || open.length > 0) throw new ReportError('The file is not complete: it ends inside the XML.');
}

function nextIndex(parent: OpenElement, name: string): number {
  parent.counts ??= new Map();
  const index = (parent.counts.get(name) ?? 0) + 1;
  parent.counts.set(name, index);
  return index;
}

function localNames(attributes: Record<string, unknown>): Record<string, string> {
  for (const key in attributes)
    if (key.includes(':') || String(attributes[key]).length > MAX_STRING)
      return Object.fromEntries(Object.entries(attributes).map(([name, value]) => [localName(name), String(value).slice(0, MAX_STRING)]));
  return attributes as Record<string, string>;
}

function localName(name: string): string {
  const colon = name.indexOf(':');
  return colon === -1 ? name : name.slice(colon + 1);
}

function matches({ anyDepth, segments }: Pattern, open: readonly OpenElement[]): boolean {
  const offset = open.length - segments.length;
  if (anyDepth ? offset < 0 : offset !== 0) return false;
  for (let at = segments.length - 1; at >= 0; at--) {
    const segment = segments[at];
    if (segment !== '*' && segment !== open[offset + at]?.name) return false;
  }
  return true;
}

export function child(element: XmlElement, name: string): XmlElement | undefined {
  return element.children.find((candidate) => candidate.name === name);
}

export function childText(element: XmlElement, name: string): string {
  return child(element, name)?.text ?? '';
}

export function childTexts(element: XmlElement, name: string): string[] {
  return element.children.filter((candidate) => candidate.name === name && candidate.text !== '').map((candidate) => candidate.text);
}
