import type { Tone } from './words.ts';

/** The content of a report, independent of the output format. */
export interface Report {
  title: string;
  lang: 'en';
  packageId: string;
  organization: string;
  generatedAt: string;
  producer: string;
  cover: Cover;
  sections: Section[];
}

export interface Cover {
  kicker: string;
  title: string;
  subtitle: string;
  verdict: { tone: Tone; headline: string; sentence: string; reasons: string[]; open: { heading: string; items: string[] } | null };
  completeness: { tone: Tone; grade: string; sentence: string; gaps: string[] };
  bars: BarChart[];
  facts: Fact[];
}

export interface BarChart {
  caption: string;
  bars: { label: string; value: number; tone: Tone }[];
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
  /** Created while they are read, because a package can have many thousands. */
  rows: Iterable<Row>;
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
export const optionalLine = (text: string | null | false, as: Line['as'] = 'plain'): Line[] =>
  text === null || text === false || text === '' ? [] : [line(text, as)];
