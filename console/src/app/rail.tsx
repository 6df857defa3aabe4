import { SidebarCollapseIcon, SidebarExpandIcon } from '@primer/octicons-react';
import { Link } from '@tanstack/react-router';
import { useDefaultViews } from '../api/default-views.ts';
import type { Me } from '../api/session.ts';
import { run } from '../keys/keys.ts';
import { usePreferences } from '../theme/preferences.ts';
import { searchOf } from './area.ts';
import { areas } from './areas.ts';
import css from './rail.module.css';

/** The navigation. What a role may not use is absent. */
export function Rail({ me }: { me: Me }) {
  const isOpen = usePreferences().rail === 'open';
  const [defaults] = useDefaultViews();
  return (
    <nav className={css.rail} aria-label="Main" data-open={isOpen || undefined}>
      <div className={css.organization} title={me.organization.name}>
        <svg width="20" height="20" viewBox="0 0 16 16" aria-hidden="true">
          <rect width="16" height="16" rx="4" fill="var(--accent)" />
          <path d="M4 10V8h1.6v2zm2.8 0V6.4h1.6V10zm2.8 0V4.4h1.6V10zM4 12.2v-1h7.2v1z" fill="#fff" />
        </svg>
        <span className="ellipsis">{me.organization.name}</span>
      </div>
      <ul>
        {areas.map(({ entry }) =>
          entry && me.permissions.includes(entry.permission) ? (
            <li key={entry.path}>
              <Link
                to={entry.path}
                search={searchOf(entry, defaults)}
                className={css.entry}
                activeProps={{ 'data-active': true }}
                activeOptions={{ exact: entry.path === '/', includeSearch: false }}
                title={entry.label}
              >
                <entry.icon size={16} aria-hidden />
                <span>{entry.label}</span>
              </Link>
            </li>
          ) : null,
        )}
      </ul>
      <button type="button" className={css.toggle} onClick={() => run('rail')} aria-label={isOpen ? 'Collapse the navigation' : 'Expand the navigation'}>
        {isOpen ? <SidebarExpandIcon size={16} /> : <SidebarCollapseIcon size={16} />}
      </button>
    </nav>
  );
}
