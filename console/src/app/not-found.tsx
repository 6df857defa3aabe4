import { Link } from '@tanstack/react-router';
import { Empty } from '../parts/states.tsx';

export function NotFound() {
  return (
    <main>
      <Empty title="Page not found" actions={<Link to="/">Go to the overview</Link>}>
        Nothing is at this address. It may have been typed wrong.
      </Empty>
    </main>
  );
}
