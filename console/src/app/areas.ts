import { accountArea } from '../pages/account/area.ts';
import { assetsArea } from '../pages/assets/area.ts';
import { evidenceArea } from '../pages/evidence/area.ts';
import { findingsArea } from '../pages/findings/area.ts';
import { importsArea } from '../pages/imports/area.ts';
import { integrationsArea } from '../pages/integrations/area.ts';
import { overviewArea } from '../pages/overview/area.ts';
import { settingsArea } from '../pages/settings/area.ts';
import { workArea } from '../pages/work/area.ts';
import type { Area } from './area.ts';

/** All parts of the console, in the order of the navigation. A new part takes one line. */
export const areas: readonly Area[] = [
  overviewArea,
  findingsArea,
  workArea,
  assetsArea,
  importsArea,
  integrationsArea,
  evidenceArea,
  settingsArea,
  accountArea,
];
