/** One run of a tool, as the invented reports of this folder tell it. */
export interface Scan {
  /** Numbers of the weaknesses that the tool shows. */
  found: readonly number[];
  /** Day of the scan, counted from 40 days ago. */
  day: number;
  /** Hours after noon of the day. */
  hour?: number;
  /** Name of the asset, if it is not that of the trial. */
  asset?: string;
  /** Image: the tag. */
  tag?: string;
  /** Image: a digit that makes one build differ from another. By default each day has its own build. */
  build?: number;
  /** Image: the platform. */
  platform?: 'amd64' | 'arm64';
  /** Code: the branch that the report names, if it names one. Null: none. */
  branch?: string | null;
  commit?: string;
  /** Day of the vulnerability database. */
  knowledge?: number;
  credentialed?: boolean;
  /** Hosts: names that were scanned. */
  hosts?: readonly string[];
  /** Hosts: the address of all of them, if the report states it. */
  address?: string;
  /** Numbers of the checks that were enabled, in tools that list them. */
  enabled?: readonly number[];
  /** Code: files that the tool read, by the number of their weakness. */
  files?: readonly number[];
  /** Version of the component of each weakness. */
  version?: (n: number) => string;
  /** Path of each weakness. */
  path?: (n: number) => string;
  /** Name of the component or check of each weakness. */
  component?: (n: number) => string;
  severity?: (n: number) => Severity;
  /** Weaknesses without a fix. */
  unfixed?: (n: number) => boolean;
  /** Whether every record is there twice. */
  twice?: boolean;
  /** Whether the report has a record that cannot be read. */
  damaged?: boolean;
  /** Whether the tool says that it did not succeed. */
  failed?: boolean;
  /** Weaknesses that the tool shows and suppresses. */
  suppressed?: readonly number[];
}

export type Severity = 'critical' | 'high' | 'medium' | 'low';

/** What the report says about names and ids. Every trial has its own. */
export interface Trial {
  n: number;
  asset: string;
}

export interface Tool {
  format: string;
  kind: 'image' | 'repository' | 'host' | 'web';
  /** Whether the report says when the scan took place. Otherwise the scope does. */
  hasTime: boolean;
  /** Whether the report names its asset. Otherwise the scope does. */
  hasAsset: boolean;
  /** How the API names weakness `n` of the trial: its CVE or rule. */
  idOf: (trial: Trial, n: number) => string;
  write: (trial: Trial, scan: Scan) => string;
}

const DAY = 86_400_000;
const start = Math.floor(Date.now() / DAY) * DAY - 40 * DAY;
export const timeOf = ({ day, hour = 0 }: Pick<Scan, 'day' | 'hour'>): Date => new Date(start + day * DAY + (12 + hour) * 3_600_000);

export const cve = ({ n }: Trial, k: number): string => `CVE-2025-${20_000 + n * 40 + k}`;
export const severityOf = ({ severity = () => 'high' as const }: Scan, n: number): Severity => severity(n);
export const versionOf = ({ version = (n) => `1.${n}.0` }: Scan, n: number): string => version(n);
export const componentOf = ({ component = (n) => `lib${n}` }: Scan, n: number): string => component(n);
export const records = <T>({ found, twice = false }: Scan, of: (n: number) => T): T[] => found.flatMap((n) => (twice ? [of(n), of(n)] : [of(n)]));
export const hex = (digit: number, length = 64): string => (digit % 16).toString(16).repeat(length);
/** One record of JSON that no format can read. */
export const damage = ({ damaged = false }: Scan): unknown[] => (damaged ? [{}] : []);
/** What the report says about its branch. */
export const branchOf = ({ branch = 'main' }: Scan): string | null => branch;
export const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
