import { formats } from '@rrs/scan-reports';
import { readerOf } from '../../findings/import/reading/read-report.ts';

/** Reads reports without a child process, which takes time to start. Tests of child processes and of the whole service start one. */
export const directReader = readerOf(formats);
