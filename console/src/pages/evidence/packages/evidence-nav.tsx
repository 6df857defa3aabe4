import { Link } from '@tanstack/react-router';
import css from '../../../lists/tabs.module.css';

const pages = [
  { label: 'Packages', path: '/evidence' },
  { label: 'Transparency log', path: '/evidence/log' },
  { label: 'Signing keys', path: '/evidence/keys' },
  { label: 'Verify a file', path: '/verify' },
] as const;

/** The pages of the area. */
export function EvidenceNav() {
  return (
    <nav className={css.tabs} aria-label="Evidence">
      {pages.map(({ label, path }) => (
        <Link key={path} to={path} className={css.tab} activeOptions={{ exact: true, includeSearch: false }} activeProps={{ 'aria-current': 'page' }}>
          {label}
        </Link>
      ))}
    </nav>
  );
}
