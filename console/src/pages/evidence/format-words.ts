import { term } from '../../parts/words.ts';

const words: Readonly<Record<string, string>> = {
  zip: 'Package (ZIP)',
  pdf: 'Report (PDF)',
  html: 'Report (HTML)',
  json: 'Evidence (JSON)',
  jsonl: 'Findings (JSON Lines)',
  csv: 'Findings (CSV)',
  'oscal-ar': 'OSCAL assessment results',
  'oscal-poam': 'OSCAL plan of action and milestones',
  openvex: 'OpenVEX',
  'cyclonedx-vex': 'CycloneDX VEX',
  sarif: 'SARIF',
};

/** How a file of a package is called. */
export const formatWords = (format: string): string => words[format] ?? term(format);
