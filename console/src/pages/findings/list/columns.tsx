import { GlobeIcon } from '@primer/octicons-react';
import type { ListedFinding } from '@rrs/client';
import { useMemo } from 'react';
import { useToolNames } from '../../../api/source-names.ts';
import type { Column } from '../../../lists/table.tsx';
import { SeverityChip } from '../../../parts/severity.tsx';
import { StatusMark } from '../../../parts/status.tsx';
import { Due } from '../../../parts/time.tsx';
import { shortName, utc } from '../../../parts/words.ts';
import css from './columns.module.css';

type ToolOf = (source: ListedFinding['sources'][number]) => string;
const toolsOf = ({ sources }: ListedFinding, toolOf: ToolOf): string => [...new Set(sources.map(toolOf))].join(', ');

export function useFindingColumns(): readonly Column<ListedFinding>[] {
  const toolOf = useToolNames();
  return useMemo(() => columnsOf(toolOf), [toolOf]);
}

/** A row says all that triage needs. Plain HTML: these cells are drawn dozens of times per frame. */
const columnsOf = (toolOf: ToolOf): readonly Column<ListedFinding>[] => [
  { id: 'severity', label: 'Severity', width: '92px', sort: 'severity', cell: ({ severity }) => <SeverityChip severity={severity} /> },
  {
    id: 'risk',
    label: 'Risk',
    width: '64px',
    sort: 'risk_score',
    cell: ({ risk_score }) => (
      <span className={css.risk} style={{ '--risk': `${risk_score}%` } as React.CSSProperties}>
        {Math.round(risk_score)}
      </span>
    ),
  },
  {
    id: 'title',
    label: 'Finding',
    width: 'minmax(200px, 3fr)',
    cell: ({ title, location }) => (
      <>
        <span className={css.title}>{title}</span>{' '}
        {location.component !== null && (
          <span className="dim">
            {location.component}
            {location.version === null ? '' : ` ${location.version}`}
            {location.fixed_version === null ? '' : ` → ${location.fixed_version}`}
          </span>
        )}
        {location.component === null && location.path !== null && (
          <span className="dim">
            {location.path}
            {location.line === null ? '' : `:${location.line}`}
          </span>
        )}
      </>
    ),
    hint: ({ title }) => title,
  },
  {
    id: 'ids',
    label: 'Vulnerability',
    width: 'minmax(168px, 1fr)',
    from: 700,
    cell: ({ vulnerability_ids, kev, epss }) => (
      <>
        {kev.listed && <span className={css.kev}>KEV</span>} <span className="mono">{vulnerability_ids[0] ?? ''}</span>
        {epss !== null && epss.score >= 0.1 && <span className="dim"> {Math.round(epss.score * 100)} %</span>}
      </>
    ),
  },
  {
    id: 'asset',
    label: 'Asset',
    width: 'minmax(130px, 1.4fr)',
    from: 860,
    cell: ({ asset }) => (
      <>
        {asset.exposure === 'internet' && (
          <span className={css.exposed}>
            <GlobeIcon size={12} aria-label="Reachable from the internet" />{' '}
          </span>
        )}
        {shortName(asset.name)}
      </>
    ),
    hint: ({ asset }) => (asset.exposure === 'internet' ? `${asset.name}, reachable from the internet` : asset.name),
  },
  {
    id: 'source',
    label: 'Source',
    width: '104px',
    isMinor: true,
    from: 1120,
    className: 'dim',
    cell: (finding) => toolsOf(finding, toolOf),
    hint: (finding) => toolsOf(finding, toolOf),
  },
  { id: 'status', label: 'Status', width: '116px', cell: ({ status }) => <StatusMark status={status} /> },
  {
    id: 'due',
    label: 'Due',
    width: '120px',
    from: 740,
    sort: 'due_at',
    cell: ({ due_at, overdue }) => <Due at={due_at} isOverdue={overdue} isBare />,
    hint: ({ due_at }) => due_at && utc(due_at),
  },
  {
    id: 'work',
    label: 'Work item',
    width: 'minmax(140px, 1fr)',
    isMinor: true,
    from: 1240,
    cell: ({ work_items: [item], work_item_count }) =>
      item === undefined ? null : (
        <>
          {work_item_count > 1 && <span className="dim">{work_item_count} · </span>}
          {item.title}
        </>
      ),
    hint: ({ work_items: [item] }) => item?.title ?? null,
  },
];
