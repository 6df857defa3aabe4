import type { GapCode } from '../../../document/evidence.ts';
import { always, byWeightOf, type GapText, naming, some } from './gap-phrases.ts';

/** What speaks against the scans after the fix. */
export const SCAN_GAPS = {
  no_rescan: {
    label: 'No scan after the fix',
    what: some('finding was confirmed as fixed by a person and not by a scan', 'findings were confirmed as fixed by a person and not by a scan'),
    why: 'The fix rests on the word of people.',
  },
  verifier_took_part: {
    label: 'Verified by a participant',
    what: naming(
      'by',
      some(
        'finding was verified by somebody who did the work, or by whoever can sign in as them',
        'findings were verified by somebody who did the work, or by whoever can sign in as them',
      ),
    ),
    why: 'Two accounts do not make two people.',
  },
  no_scan_before: {
    label: 'No scan before the fix',
    what: some('finding is in no scan report from before the fix', 'findings are in no scan report from before the fix'),
    why: 'No report shows the weakness as it was found.',
  },
  scan_not_kept: {
    label: 'Scan report not kept',
    what: some('scan report is not in the package', 'scan reports are not in the package'),
    why: 'The scan is known, but nobody can examine its report.',
  },
  scan_by_worker: {
    label: 'Scan delivered by a participant',
    what: some('scan after the fix was delivered by somebody who did the work', 'scans after the fix were delivered by somebody who did the work'),
    why: 'The person who did the work could have chosen or changed the report.',
  },
  scan_by_hand: {
    label: 'Scan uploaded by hand',
    what: some(
      'scan after the fix was uploaded by a person who is not known to have done the work',
      'scans after the fix were uploaded by people who are not known to have done the work',
    ),
    why: 'The report did not come directly from the scanner.',
  },
  scan_self_described: {
    label: 'Report does not identify what was scanned',
    what: some(
      'report after the fix names neither an asset nor a tool nor a time, or another asset than the scan before',
      'reports after the fix name neither an asset nor a tool nor a time, or another asset than the scan before',
    ),
    why: 'That the same asset was scanned is known only from the person who uploaded, labelled, merged or renamed something.',
  },
  scan_copied: {
    label: 'Report is a copy',
    what: some('report after the fix repeats an earlier one apart from its times', 'reports after the fix repeat an earlier one apart from their times'),
    why: 'A copy of an old report does not show a new scan.',
  },
  scan_undated: {
    label: 'Report without a date',
    what: some('report after the fix does not say when the scan took place', 'reports after the fix do not say when the scan took place'),
    why: 'The time of the scan is known only from its receipt.',
  },
  scan_contradicts: {
    label: 'A scan still shows the finding',
    what: some('finding is still shown by a scan since the claim', 'findings are still shown by a scan since the claim'),
    why: 'At least one scan says that the weakness is still there.',
  },
  scan_failed: {
    label: 'A scan could not be read',
    what: byWeightOf(
      some(
        'report about the same assets could not be read, and it names a finding that is called fixed',
        'reports about the same assets could not be read, and they name findings that are called fixed',
      ),
      some('report about the same assets could not be read', 'reports about the same assets could not be read'),
    ),
    why: 'The report came after the last scan that showed the weakness. What it shows is not known.',
  },
  source_removed: {
    label: 'Source removed',
    what: some('finding was last seen by a source that was removed', 'findings were last seen by a source that was removed'),
    why: 'The scanner that saw the weakness can no longer see whether it is gone.',
  },
  version_not_rescanned: {
    label: 'Version not scanned again',
    what: some('finding was seen in a version that was not scanned again', 'findings were seen in a version that was not scanned again'),
    why: 'Another version was scanned. The one in use may still be affected.',
  },
  source_stale: {
    label: 'Outdated scan',
    what: naming('sources', always('A source has not scanned these assets for more than 30 days')),
    why: 'The state of the assets may have changed since then.',
  },
  scan_older_than_claim: {
    label: 'Scan older than the claim',
    what: some(
      'finding was confirmed by a person, and its last scan is older than the claim',
      'findings were confirmed by a person, and their last scan is older than the claim',
    ),
    why: 'A scan from before the fix cannot confirm it.',
  },
  scan_uncredentialed: {
    label: 'Scan without credentials',
    what: byWeightOf(
      some('finding was confirmed by a person next to a scan without credentials', 'findings were confirmed by a person next to a scan without credentials'),
      some(
        'finding was confirmed by a person next to a scan that does not say whether it had credentials',
        'findings were confirmed by a person next to a scan that does not say whether it had credentials',
      ),
    ),
    why: 'A scan without credentials can see less than the scan that reported the finding.',
  },
  scan_narrower: {
    label: 'Narrower scan',
    what: byWeightOf(
      some(
        'finding was confirmed by a person next to a scan with a narrower scope',
        'findings were confirmed by a person next to a scan with a narrower scope',
      ),
      some(
        'finding was confirmed by a person next to a scan that does not state its checks',
        'findings were confirmed by a person next to a scan that does not state its checks',
      ),
    ),
    why: 'A scan that does not look for the weakness cannot show that it is gone.',
  },
  search_stated: {
    label: 'Search known only from the sender',
    what: some(
      'finding was closed by a report that does not show whether the tool looked for weaknesses of its kind, or looked at its file',
      'findings were closed by reports that do not show whether the tool looked for weaknesses of their kinds, or looked at their files',
    ),
    why: 'Whoever delivered the report says that the tool did.',
  },
  scanner_outdated: {
    label: 'Outdated scanner',
    what: some('finding was confirmed by a person next to a scan with older rules', 'findings were confirmed by a person next to a scan with older rules'),
    why: 'A scanner without the rule cannot report the weakness.',
  },
  brake_confirmed: {
    label: 'Large closure confirmed by a person',
    what: naming(
      'by',
      some(
        'scan would have closed unusually many findings and was confirmed by a person',
        'scans would have closed unusually many findings and were confirmed by a person',
      ),
    ),
    why: 'A sudden drop is often a broken or empty report.',
  },
} satisfies Partial<Record<GapCode, GapText>>;
