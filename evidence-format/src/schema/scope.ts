import type { AssetScope, EarlierPackage, PolicyVersion, SourceOnAsset, UnlinkedFinding } from '../document/scope.ts';
import { FINDING_STATES, SEVERITIES } from '../document/states.ts';
import { anyText, between, choice, field, flag, list, name, nullable, type Of, object, sha256Text, time, uuid, whole } from '../json/typed-schema.ts';
import { person } from './parts.ts';

export function countPer<K extends string>(keys: readonly K[]): Of<Record<K, number>> {
  return object<Record<K, number>>(Object.fromEntries(keys.map((key) => [key, field('Number of findings.', whole(0))])) as Record<K, Of<number>>);
}

const days = nullable(whole(0));

export const policyVersion = object<PolicyVersion>({
  effective_from: field('When the policy came into force.', time),
  changed_by: field('Who changed the policy. Null for the policy that the organization started with.', nullable(person)),
  sla: field(
    'Days until the deadline. Null: no deadline.',
    object<PolicyVersion['sla']>({
      critical: field('Days for critical findings.', days),
      high: field('Days for high findings.', days),
      medium: field('Days for medium findings.', days),
      low: field('Days for low findings.', days),
      info: field('Days for informational findings.', days),
      unknown: field('Days for findings without a severity.', days),
      kev: field('Days for findings in the CISA KEV catalog.', days),
    }),
  ),
  four_eyes: field('Whether a second person has to approve exceptions and closures.', flag),
  brake: field(
    'How many findings a scan may close before a person has to confirm it.',
    object<PolicyVersion['brake']>({ findings: field('Number of findings.', whole(0)), share: field('Share of the open findings.', between(0, 100)) }),
  ),
  source_ranking: field('Sources in the order in which their ratings count.', list(anyText)),
  retention: field(
    'Days after which originals are deleted, unless a package contains them.',
    object<PolicyVersion['retention']>({ reports: field('Days for uploaded reports.', whole(0)), runs: field('Days for runs of connections.', whole(0)) }),
  ),
});

export const assetScope = object<AssetScope>({
  id: field('ID of the asset.', uuid),
  type: field('Type of asset.', name),
  name: field('Name of the asset.', name),
  owner: field('Owner, or null.', nullable(anyText)),
  criticality: field('Criticality at `as_of`.', anyText),
  exposure: field('Exposure at `as_of`.', anyText),
  retired_at: field('When the asset was retired, or null.', nullable(time)),
  versions: field('The newest 20 versions that were scanned, newest first.', list(anyText)),
  other_open: field('Open findings of the asset that are not in the work item, per severity.', countPer(SEVERITIES)),
  other_open_alike: field('IDs of those that have a CVE of the work item or are as severe in the same report, at most 20.', list(uuid)),
});

export const sourceOnAsset = object<SourceOnAsset>({
  asset_id: field('ID of the asset.', uuid),
  source: field('Name of the source, as in `sources` of a finding.', anyText),
  kind: field('Whether reports are imported or fetched by a connection.', choice(['import', 'connection'])),
  last_scan_at: field('End of the last scan of the asset, or null.', nullable(time)),
  last_complete_at: field('End of the last complete scan of the asset, or null.', nullable(time)),
  removed_at: field('When the source was retired or its connection deleted, or null.', nullable(time)),
  removed_by: field('Who removed the source, or null.', nullable(person)),
});

export const unlinkedFinding = object<UnlinkedFinding>({
  id: field('ID of the finding.', uuid),
  title: field('Title.', name),
  severity: field('Severity.', choice(SEVERITIES)),
  state: field('State at `as_of`.', choice(FINDING_STATES)),
  at: field('When the finding was removed from the work item.', time),
  by: field('Who removed it.', person),
  reason: field('Reason, or null.', nullable(anyText)),
});

export const earlierPackage = object<EarlierPackage>({
  package_id: field('ID of the earlier package.', uuid),
  sequence: field('Number of the earlier package.', whole(1)),
  outcome: field('What became of it.', choice(['ready', 'superseded', 'failed', 'unfinished'])),
  tagmanifest_sha256: field('SHA-256 of its tag manifest. Null if nothing was published.', nullable(sha256Text)),
  log: field(
    'Its entry in the log. Null if nothing was published.',
    nullable(
      object<NonNullable<EarlierPackage['log']>>({
        epoch: field('Epoch of the log.', whole(1)),
        index: field('Index of the leaf, starting at 0.', whole(0)),
      }),
    ),
  ),
});
