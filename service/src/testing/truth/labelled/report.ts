import type { Observation } from '@rrs/scan-reports';
import type { ScanScope } from '../../../findings/import/manage-imports.ts';
import type { Vulnerability } from './world.ts';

/** A report of one tool, each record of which carries a label. */
export interface LabelledReport {
  tool: string;
  format: string;
  name: string;
  text: string;
  scope: ScanScope;
  /** Labels of records in which there is no room for a marker, by `placeOf` the record. */
  labelAt?: ReadonlyMap<string, string>;
}

export function placeOf({ rule, location: { path, line, resource } }: Pick<Observation, 'rule' | 'location'>): string {
  return [rule, path, resource ?? line].join(' ');
}

/** Which of the truth a tool reports. No tool knows everything. */
export type Knows = (vulnerability: Vulnerability, component: string) => boolean;

/** How a tool is run. */
export interface Telling {
  labels: Labels;
  knows: Knows;
  /** Which of the spellings of an address is used. */
  spelling: number;
  /** Whether Trivy lists all packages with their sources. */
  listsPackages: boolean;
  /** When the tool runs. */
  at: string;
}

/** Gives each record a marker that the reader passes on as text, and finds the label by it. Records with the same label are about the same finding. */
export interface Labels {
  url(label: string): string;
  of(observation: Observation, report: LabelledReport): string | undefined;
}

export function createLabels(): Labels {
  const labels: string[] = [];
  return {
    url: (label) => `https://labels.example.com/n${labels.push(label)}`,
    of: (observation, { labelAt }) =>
      labelAt?.get(placeOf(observation)) ?? labels[Number(/labels\.example\.com\/n(\d+)/.exec(JSON.stringify(observation))?.[1]) - 1],
  };
}

export function jsonReport(tool: string, format: string, content: unknown, scope: ScanScope = {}): LabelledReport {
  return { tool, format, name: `${format}.json`, text: JSON.stringify(content), scope };
}

/** Ways in which people and tools write the address of a repository. */
export function repositoryScope(name: string, spelling: number): ScanScope {
  const [host, ...path] = name.split('/');
  const spellings = [`https://${name}`, `https://${name}.git`, `git@${host}:${path.join('/')}.git`, `ssh://git@${name}.git`, `https://${name.toUpperCase()}/`];
  const spelled = spellings[spelling % 4] ?? name;
  return { asset: { type: 'repository', name: spelled } };
}
