import { formats } from '@rrs/scan-reports';
import { readerOf } from '../../findings/import/reading/read-report.ts';

/** Reads reports without a thread, which takes a second to start. Tests of threads and of the whole service start one. */
export const directReader = readerOf(formats);
