import type { Tone } from './words.ts';

/** A report as its readers see it, whatever it is printed on. */
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
  /** Says what the table is to those who hear it. */
  caption: string;
  columns: { heading: string; share: number }[];
  /** Made as they are read: a package may have many thousands. */
  rows: Iterable<Row>;
}

export interface Row {
  /** What a reference inside the report calls it. */
  anchor: string | null;
  cells: Cell[];
}

/** Lines below each other. */
export type Cell = Line[];

export interface Line {
  text: string;
  as: 'plain' | 'strong' | 'quiet' | 'mono' | Tone;
}

export const line = (text: string, as: Line['as'] = 'plain'): Line => ({ text, as });

/** A line where there is something to say. */
export const maybe = (text: string | null | false, as: Line['as'] = 'plain'): Line[] =>
  text === null || text === false || text === '' ? [] : [line(text, as)];
