import { SaxesParser } from 'saxes';
import { ReportError, type ReportInput } from '../contract.ts';
import { textBytes } from '../shared/input.ts';

/** An element with everything in it. Names are local names: reports use prefixes as they like. */
export interface XmlElement {
  name: string;
  attributes: Readonly<Record<string, string>>;
  /** All text directly in it, trimmed. */
  text: string;
  children: readonly XmlElement[];
}

export interface XmlMatch {
  element: XmlElement;
  /** Index of the path that it matched. */
  pattern: number;
  /** The elements around it, outermost first, with their attributes (not their content). */
  parents: readonly { name: string; attributes: Readonly<Record<string, string>>; index: number }[];
  /** `ReportHost[2]/ReportItem[7]`: counted from 1 among its equals. */
  place: string;
}

const MAX_DEPTH = 200;
const MAX_ELEMENT_CHARACTERS = 16 * 1024 * 1024;
/** One tag, comment or CDATA section, wanted or not: the parser keeps it until it ends. */
const MAX_TOKEN_BYTES = 64 * 1024 * 1024;
/** What an element costs beside its text, in the same currency. */
const ELEMENT_CHARACTERS = 100;

interface Open {
  name: string;
  attributes: Record<string, string>;
  index: number;
  counts: Map<string, number> | null;
}

interface Building {
  name: string;
  attributes: Record<string, string>;
  text: string;
  children: Building[];
}

interface Pattern {
  anywhere: boolean;
  wanted: readonly string[];
}

// A stray control character or a bare "&" in a tool's output is no reason to lose a report; a structure that does not close is.
const BROKEN = /unclosed|unexpected close|unmatched|text data outside|document must|only one root|unexpected end/i;

/**
 * Elements at some paths from the root (`NessusClientData_v2/Report/ReportHost`; a segment `*` is any name, a leading `**` any depth)
 * as they end. No entity is ever expanded but XML's own five, no DTD is read.
 */
export async function* xmlElements(input: ReportInput, paths: readonly string[]): AsyncGenerator<XmlMatch> {
  const patterns = paths.map((path): Pattern => {
    const segments = path.split('/');
    return segments[0] === '**' ? { anywhere: true, wanted: segments.slice(1) } : { anywhere: false, wanted: segments };
  });
  const parser = new SaxesParser({ xmlns: false, position: false, fragment: false });
  const open: Open[] = [];
  /** The matched element that is open, and the open ones in it. */
  const building: Building[] = [];
  let found: XmlMatch[] = [];
  let pattern = -1;
  let size = 0;
  /** Bytes since something ended. */
  let waiting = 0;
  let broken: Error | null = null;
  let ended = false;

  const grow = (characters: number): void => {
    size += characters;
    if (size > MAX_ELEMENT_CHARACTERS) throw new ReportError(`The XML has an element ${building[0]?.name} of more than ${MAX_ELEMENT_CHARACTERS} characters.`);
  };
  const enter = (element: Building): void => {
    building.push(element);
    grow(ELEMENT_CHARACTERS);
  };
  const addText = (text: string): void => {
    waiting = 0;
    const current = building.at(-1);
    if (!current) return;
    grow(text.length);
    current.text += text;
  };

  parser.on('error', (error) => {
    if (BROKEN.test(error.message)) broken ??= error;
  });
  parser.on('opentag', ({ name, attributes }) => {
    waiting = 0;
    const local = localName(name);
    const plain = localNames(attributes);
    if (open.length + building.length > MAX_DEPTH) throw new ReportError(`The XML is nested more than ${MAX_DEPTH} levels deep.`);
    const around = building.at(-1);
    if (around) {
      const element = { name: local, attributes: plain, text: '', children: [] };
      around.children.push(element);
      enter(element);
      return;
    }
    const parent = open.at(-1);
    open.push({ name: local, attributes: plain, index: parent ? counted(parent, local) : 1, counts: null });
    pattern = patterns.findIndex((one) => matches(one, open));
    if (pattern === -1) return;
    size = 0;
    enter({ name: local, attributes: plain, text: '', children: [] });
    // Only now, since without a handler the parser passes over text.
    parser.on('text', addText);
  });
  parser.on('cdata', addText);
  parser.on('comment', () => {
    waiting = 0;
  });
  parser.on('closetag', () => {
    waiting = 0;
    const done = building.pop();
    if (done) {
      done.text = done.text.trim();
      if (building.length > 0) return;
      parser.off('text');
      found.push({
        element: done,
        pattern,
        parents: open.slice(0, -1).map(({ name, attributes, index }) => ({ name, attributes, index })),
        place: open
          .slice(1)
          .map(({ name, index }) => `${name}[${index}]`)
          .join('/'),
      });
    }
    open.pop();
    if (open.length === 0) ended = true;
  });

  const decoder = new TextDecoder('utf-8');
  for await (const chunk of textBytes(input)) {
    waiting += chunk.length;
    parser.write(decoder.decode(chunk, { stream: true }));
    if (broken) throw new ReportError(`The file is no well-formed XML: ${(broken as Error).message}.`, { cause: broken });
    const most = building.length > 0 ? MAX_ELEMENT_CHARACTERS : MAX_TOKEN_BYTES;
    if (waiting > most) throw new ReportError(`The XML has a text or tag of more than ${most} bytes.`);
    for (const match of found) yield match;
    found = [];
  }
  if (!ended || open.length > 0) throw new ReportError('The file ends in the middle of its XML: it is not complete.');
}

function counted(parent: Open, name: string): number {
  parent.counts ??= new Map();
  const index = (parent.counts.get(name) ?? 0) + 1;
  parent.counts.set(name, index);
  return index;
}

function localNames(attributes: Record<string, unknown>): Record<string, string> {
  for (const key in attributes)
    if (key.includes(':')) return Object.fromEntries(Object.entries(attributes).map(([name, value]) => [localName(name), String(value)]));
  return attributes as Record<string, string>;
}

function localName(name: string): string {
  const colon = name.indexOf(':');
  return colon === -1 ? name : name.slice(colon + 1);
}

function matches({ anywhere, wanted }: Pattern, open: readonly Open[]): boolean {
  const offset = open.length - wanted.length;
  if (anywhere ? offset < 0 : offset !== 0) return false;
  for (let at = wanted.length - 1; at >= 0; at--) {
    const segment = wanted[at];
    if (segment !== '*' && segment !== open[offset + at]?.name) return false;
  }
  return true;
}

/** The first child of that name, and its text. */
export function child(element: XmlElement, name: string): XmlElement | undefined {
  return element.children.find((candidate) => candidate.name === name);
}

export function childText(element: XmlElement, name: string): string {
  return child(element, name)?.text ?? '';
}

export function childTexts(element: XmlElement, name: string): string[] {
  return element.children.filter((candidate) => candidate.name === name && candidate.text !== '').map((candidate) => candidate.text);
}
