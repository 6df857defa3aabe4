import { Outlet, useLocation, useNavigate } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useState } from 'react';
import { whenSignedOut } from '../api/client.ts';
import { useDefaultViews } from '../api/default-views.ts';
import { followEvents } from '../api/live.ts';
import { useRetrying } from '../api/retrying.ts';
import { followSignOut, type Me, useSession } from '../api/session.ts';
import { type Handlers, useCommands } from '../keys/keys.ts';
import { copy } from '../parts/copy.tsx';
import { readLayers } from '../parts/layers/modal.tsx';
import { Boundary, Failure, Loading } from '../parts/states.tsx';
import { preferences, setPreference, usePreferences } from '../theme/preferences.ts';
import { searchOf } from './area.ts';
import { areas } from './areas.ts';
import { DropAnywhere } from './drop-anywhere.tsx';
import { Rail } from './rail.tsx';
import css from './shell.module.css';
import { TopBar } from './top-bar.tsx';

const KeysHelp = lazy(async () => ({ default: (await import('../keys/keys-help.tsx')).KeysHelp }));
const Palette = lazy(async () => ({ default: (await import('./palette.tsx')).Palette }));
const SignInAgain = lazy(async () => ({ default: (await import('./sign-in-again.tsx')).SignInAgain }));

/** The frame around all pages that need a session. */
export function Shell() {
  const session = useSession();
  if (session.data !== undefined) return <Frame me={session.data} />;
  if (session.error && 'status' in session.error && session.error.status === 401) return <ToSignIn />;
  return session.error ? <Failure error={session.error} onRetry={() => void session.refetch()} /> : <Loading />;
}

/** Once: until the sign-in page is loaded, this one stays on the screen with an address that is already the other's. */
function ToSignIn() {
  const navigate = useNavigate();
  const { href } = useLocation();
  const [wanted] = useState(href);
  useEffect(() => {
    void navigate({ to: '/sign-in', search: wanted === '/' ? {} : { next: wanted }, replace: true });
  }, [navigate, wanted]);
  return <Loading />;
}

function Frame({ me }: { me: Me }) {
  const [open, setOpen] = useState<'keys' | 'palette' | 'sign-in' | null>(null);
  const { rail } = usePreferences();
  const navigate = useNavigate();
  const [defaults] = useDefaultViews();
  useEffect(() => {
    whenSignedOut(() => setOpen('sign-in'));
    followSignOut();
    const open = new AbortController();
    followEvents(open.signal);
    readLayers();
    return () => open.abort();
  }, []);
  const goTo = Object.fromEntries(
    areas.flatMap(({ entry }) =>
      entry && me.permissions.includes(entry.permission) ? [[entry.command, () => void navigate({ to: entry.path, search: searchOf(entry, defaults) })]] : [],
    ),
  );
  useCommands({
    ...(goTo as Handlers),
    palette: () => setOpen('palette'),
    help: () => setOpen('keys'),
    rail: () => setPreference('rail', preferences().rail === 'open' ? 'closed' : 'open'),
    'copy-link': () => void copy(location.href),
  });
  const close = () => setOpen(null);
  return (
    <div className={css.shell} data-rail={rail}>
      <a className={css.skip} href="#content">
        Skip to the content
      </a>
      <Rail me={me} />
      <div className={css.body}>
        <TopBar me={me} onPalette={() => setOpen('palette')} onHelp={() => setOpen('keys')} />
        <Notices me={me} />
        <main id="content" className={css.main} tabIndex={-1}>
          <Boundary>
            <Outlet />
          </Boundary>
        </main>
      </div>
      {me.permissions.includes('imports:manage') && <DropAnywhere />}
      <Suspense>
        {open === 'keys' && <KeysHelp onClose={close} />}
        {open === 'palette' && <Palette me={me} onClose={close} />}
        {open === 'sign-in' && <SignInAgain email={me.email} onDone={close} />}
      </Suspense>
    </div>
  );
}

/** What concerns the whole console: no network, waiting for the service, a password to change. */
function Notices({ me }: { me: Me }) {
  const [isOnline, setOnline] = useState(navigator.onLine);
  const retrying = useRetrying();
  useEffect(() => {
    const update = () => setOnline(navigator.onLine);
    addEventListener('online', update);
    addEventListener('offline', update);
    return () => {
      removeEventListener('online', update);
      removeEventListener('offline', update);
    };
  }, []);
  if (!isOnline) return <Notice>You are offline. What you see may be out of date.</Notice>;
  if (retrying !== null)
    return (
      <Notice>
        The service {retrying.isUnreachable ? 'does not respond' : 'asked to wait'}. The request is repeated in {retrying.seconds} s.
      </Notice>
    );
  if (me.must_change_password)
    return (
      <Notice>
        Somebody else chose your password. You can only read until you <a href="/settings/profile">change it</a>.
      </Notice>
    );
  return null;
}

function Notice({ children }: { children: React.ReactNode }) {
  return (
    <div className={css.notice} role="status">
      {children}
    </div>
  );
}
