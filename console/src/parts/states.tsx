import { Button } from '@mantine/core';
import { AlertIcon } from '@primer/octicons-react';
import { RrsConnectionError, RrsError } from '@rrs/client';
import { Component, type ReactNode, useEffect, useState } from 'react';
import { Copy } from './copy.tsx';
import css from './states.module.css';

/** Grey bars in the shape of what comes. Appears after 150 ms, so that quick answers do not flicker. */
export function Loading({ rows = 3 }: { rows?: number }) {
  const [isSlow, setSlow] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setSlow(true), 150);
    return () => clearTimeout(timer);
  }, []);
  return (
    <div className={css.loading} role="status" aria-label="Loading">
      {isSlow && [...Array(rows).keys()].map((row) => <div key={row} className={css.bar} />)}
    </div>
  );
}

/** Nothing to show: says why, and offers the next step. */
export function Empty({ title, children, actions }: { title: string; children?: ReactNode; actions?: ReactNode }) {
  return (
    <div className={css.state}>
      <h2>{title}</h2>
      {children && <p className="dim">{children}</p>}
      {actions && <div className={css.actions}>{actions}</div>}
    </div>
  );
}

/** What went wrong, what to do, and the id under which the service logged the request. */
export function Failure({ error, onRetry }: { error: unknown; onRetry?: (() => void) | undefined }) {
  const refused = error instanceof RrsError ? error : null;
  return (
    <div className={css.state} role="alert">
      <h2>
        <AlertIcon className="bad" aria-hidden /> {titleOf(error)}
      </h2>
      <p>{messageOf(error)}</p>
      {refused !== null && refused.errors.length > 0 && (
        <ul className={css.errors}>
          {refused.errors.map(({ path, detail }) => (
            <li key={`${path} ${detail}`}>
              <code>{path}</code> {detail}
            </li>
          ))}
        </ul>
      )}
      <div className={css.actions}>
        {onRetry && refused?.status !== 404 && (
          <Button variant="default" onClick={onRetry}>
            Try again
          </Button>
        )}
        {refused?.requestId && (
          <span className="dim">
            Request <Copy text={refused.requestId} />
          </span>
        )}
      </div>
    </div>
  );
}

export function messageOf(error: unknown): string {
  if (error instanceof RrsConnectionError) return 'The service did not respond. Check your connection.';
  if (error instanceof RrsError && error.status === 412) return 'Somebody else changed this in the meantime. Look at it again before you repeat your change.';
  return error instanceof Error ? error.message : String(error);
}

function titleOf(error: unknown): string {
  if (error instanceof RrsConnectionError) return 'No connection';
  if (!(error instanceof RrsError)) return 'This part of the page failed';
  if (error.status === 403) return 'Not allowed';
  if (error.status === 404) return 'Not found';
  if (error.status === 409 || error.status === 412) return 'This conflicts with another change';
  return error.status >= 500 ? 'The service failed' : 'The request was refused';
}

interface Query<T> {
  data: T | undefined;
  error: unknown;
  refetch: () => unknown;
}

/** Shows a query: loading, failure, or what `children` make of the answer. An old answer stays on the screen when a new one fails. */
export function Show<T>({ query, rows, children }: { query: Query<T>; rows?: number; children: (data: T) => ReactNode }) {
  if (query.data !== undefined) return <Boundary>{children(query.data)}</Boundary>;
  if (query.error) return <Failure error={query.error} onRetry={() => void query.refetch()} />;
  return <Loading {...(rows === undefined ? {} : { rows })} />;
}

/** A failure inside leaves the rest of the page working. */
export class Boundary extends Component<{ children: ReactNode }, { error: unknown }> {
  override state = { error: null };

  static getDerivedStateFromError(error: unknown) {
    return { error };
  }

  override render() {
    if (this.state.error === null) return this.props.children;
    return <Failure error={this.state.error} onRetry={() => this.setState({ error: null })} />;
  }
}
