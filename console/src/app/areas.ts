import { accountArea } from '../pages/account/area.ts';
import { overviewArea } from '../pages/overview/area.ts';
import { settingsArea } from '../pages/settings/area.ts';
import type { Area } from './area.ts';

/** All parts of the console, in the order of the navigation. A new part takes one line. */
export const areas: readonly Area[] = [overviewArea, settingsArea, accountArea];
