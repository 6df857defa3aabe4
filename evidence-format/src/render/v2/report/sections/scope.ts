import type { Evidence } from '../../../../document/evidence.ts';
import type { AssetScope } from '../../../../document/scope.ts';
import { SEVERITIES } from '../../../../document/states.ts';
import { groupedBy } from '../../sequences.ts';
import { SEVERITY_WORDS } from '../../words/labels.ts';
import { count, day, grouped, humanize, second } from '../../words/numbers.ts';
import { clipped } from '../../words/printable.ts';
import { first, LENGTH, MOST } from '../limits.ts';
import { type Cell, line, optionalLine, type Section, table, words } from '../model.ts';
import type { Names } from '../names.ts';

export function scopeSection(evidence: Evidence, names: Names): Section {
  const { assets, findings, unlinked } = evidence;
  const inItem = groupedBy(findings, ({ asset }) => asset.id);
  const { shown, more } = first(assets, MOST.assets, 'data/evidence.json');
  const removed = first(unlinked, MOST.removed, 'data/evidence.json');
  const others = assets.reduce((sum, asset) => sum + otherOpen(asset), 0);
  return {
    id: 'scope',
    heading: 'Scope',
    blocks: [
      words(
        `${count(findings.length, 'finding')} on ${count(assets.length, 'asset')}. ${others === 0 ? 'Nothing else is open on these assets.' : `${count(others, 'other finding')} on the same assets ${others === 1 ? 'is' : 'are'} open and not part of this work item.`}`,
      ),
      ...table(
        'Assets',
        { Asset: 32, 'Owner, criticality, exposure': 22, 'Versions scanned': 20, 'In the item': 10, 'Also open there': 16 },
        { rows: shown.map((asset) => assetRow(asset, inItem.get(asset.id)?.length ?? 0, names)) },
      ),
      ...more,
      ...table(
        'Findings removed from the work item',
        { Finding: 42, 'State now': 18, 'Removed (UTC), by': 20, Reason: 20 },
        {
          headed: true,
          rows: removed.shown.map(({ id, title, severity, state, at, by, reason }) => [
            [
              line(`${names.of(id)} ${clipped(title, LENGTH.title)}`, 'strong'),
              line(SEVERITY_WORDS[severity].label, SEVERITY_WORDS[severity].tone),
              line(id, 'mono'),
            ],
            [line(humanize(state))],
            [line(second(at)), line(clipped(by.name, LENGTH.name), 'quiet')],
            [line(clipped(reason ?? 'No reason given', LENGTH.text))],
          ]),
        },
      ),
      ...removed.more,
    ],
  };
}

const otherOpen = ({ other_open }: AssetScope): number => SEVERITIES.reduce((sum, severity) => sum + other_open[severity], 0);

function assetRow(asset: AssetScope, inItem: number, names: Names): Cell[] {
  const { id, type, name, owner, criticality, exposure, retired_at, versions, other_open, other_open_alike } = asset;
  const open = SEVERITIES.filter((severity) => other_open[severity] > 0);
  return [
    [
      line(`${names.of(id)} ${clipped(name, LENGTH.title)}`, 'strong'),
      line(humanize(type), 'quiet'),
      ...optionalLine(retired_at !== null && `Retired ${day(retired_at)}`, 'warn'),
    ],
    [line(owner === null ? 'No owner' : clipped(owner, LENGTH.name), owner === null ? 'warn' : 'plain'), line(humanize(criticality)), line(humanize(exposure))],
    versions.length === 0
      ? [line('None named', 'quiet')]
      : [
          line(clipped(versions.slice(0, 4).join(', '), LENGTH.name)),
          ...optionalLine(versions.length > 4 && `and ${count(versions.length - 4, 'older one')}`, 'quiet'),
        ],
    [line(grouped(inItem))],
    open.length === 0
      ? [line('Nothing', 'good')]
      : [
          ...open.map((severity) => line(`${grouped(other_open[severity])} ${SEVERITY_WORDS[severity].label.toLowerCase()}`, SEVERITY_WORDS[severity].tone)),
          ...optionalLine(other_open_alike.length > 0 && `${grouped(other_open_alike.length)} like those of the item`, 'bad'),
        ],
  ];
}
