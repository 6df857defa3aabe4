import type { Layer, Report } from '@rrs/verifier';

interface Verdict {
  title: string;
  text: string;
  tone: 'good' | 'warn' | 'bad';
}

const verdicts: Readonly<Record<Report['verdict'], Verdict>> = {
  verified: { title: 'Verified', text: 'Every check passed, and the package is signed with keys that you trust.', tone: 'good' },
  consistent: {
    title: 'Consistent, but not proven',
    text: 'No check failed, but part of it is not proven. The checks below say what is missing, such as a key or a certificate that you trust.',
    tone: 'warn',
  },
  failed: {
    title: 'Rejected',
    text: 'Do not rely on this package. Get it again from its original source, and check that you use the right keys. If it fails again, contact its publisher.',
    tone: 'bad',
  },
};

const superseded: Verdict = {
  title: 'Verified, but superseded',
  text: 'The package is genuine, but it no longer describes how things are. Ask its publisher for the current one.',
  tone: 'warn',
};

export function verdictOf({ verdict }: Report, isSuperseded: boolean): Verdict {
  return isSuperseded ? superseded : verdicts[verdict];
}

/** What each layer of checks is about, for people who read no specification. */
export const layers: Readonly<Record<Layer['name'], { title: string; means: string }>> = {
  container: { title: 'Archive', means: 'Every program unpacks the same files from it.' },
  content: { title: 'Files', means: 'Every file is the one that was sealed. None is missing, none was added.' },
  evidence: { title: 'Statements', means: 'Conclusion, grade, gaps, controls and decisions follow from the facts in the package.' },
  rendering: { title: 'Readable files', means: 'Reports, tables and exports tell the same as the evidence.' },
  audit_trail: { title: 'Audit trail', means: 'The chain of events is unbroken.' },
  signature: { title: 'Signature', means: 'The content was signed with a key that you trust.' },
  log: { title: 'Transparency log', means: 'The log of the organization contains the package.' },
  history: { title: 'History of the log', means: 'The log only grew. Nothing was removed or rewritten.' },
  time: { title: 'Time', means: 'A time-stamping authority that you trust confirms when it was signed.' },
};

export const results: Readonly<Record<Layer['result'], { word: string; tone: 'good' | 'warn' | 'bad' | 'dim' }>> = {
  pass: { word: 'Passed', tone: 'good' },
  fail: { word: 'Failed', tone: 'bad' },
  not_present: { word: 'Absent', tone: 'dim' },
  not_checked: { word: 'Not proven', tone: 'warn' },
};
