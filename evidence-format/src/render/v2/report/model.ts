import type { Tone } from '../dispositions.ts';

/** The content of a report, independent of the output format. */
export interface Report {
  title: string;
  lang: 'en';
  packageId: string;
  organization: string;
  generatedAt: string;
  producer: string;
  /** On every page. */
  mark: string;
  cover: Cover;
  sections: Section[];
}

/** The first page. Only `quote` and some facts contain text that users wrote, and they come after the verdict. */
export interface Cover {
  mark: string;
  kicker: string;
  verdict: { tone: Tone; headline: string; sentence: string; reasons: string[] };
  grade: { tone: Tone; grade: string; sentence: string; legend: string; gaps: string[] };
  counts: Table;
  quote: { label: string; text: string };
  facts: Fact[];
  scope: string;
}

export type Fact = readonly [label: string, value: string];

export interface Section {
  id: string;
  heading: string;
  blocks: Block[];
}

export type Block =
  | { kind: 'text'; text: string }
  | { kind: 'heading'; text: string }
  | { kind: 'facts'; facts: Fact[] }
  | { kind: 'commands'; lines: string[] }
  | Table;

export interface Table {
  kind: 'table';
  heading: string | null;
  /** Read out by screen readers. */
  caption: string;
  columns: { heading: string; share: number }[];
  rows: Row[];
}

export interface Row {
  /** The id that links inside the report use. */
  anchor: string | null;
  cells: Cell[];
}

/** The lines of one table cell. */
export type Cell = Line[];

export interface Line {
  text: string;
  as: 'plain' | 'strong' | 'quiet' | 'mono' | Tone;
}

export const line = (text: string, as: Line['as'] = 'plain'): Line => ({ text, as });

/** No line if there is no text. */
export const optionalLine = (text: string | null | false | undefined, as: Line['as'] = 'plain'): Line[] =>
  text === null || text === undefined || text === false || text === '' ? [] : [line(text, as)];

export const words = (text: string): Block => ({ kind: 'text', text });

interface Content {
  headed?: boolean;
  rows: Cell[][];
  /** Instead of an empty table. */
  empty?: string;
}

/** A table, or a sentence if there are no rows. The numbers are shares of the width. */
export function table(caption: string, columns: Readonly<Record<string, number>>, { headed = false, rows, empty }: Content): Block[] {
  if (rows.length === 0) return empty === undefined ? [] : [words(empty)];
  return [
    {
      kind: 'table',
      heading: headed ? caption : null,
      caption,
      columns: Object.entries(columns).map(([heading, share]) => ({ heading, share })),
      rows: rows.map((cells) => ({ anchor: null, cells })),
    },
  ];
}
