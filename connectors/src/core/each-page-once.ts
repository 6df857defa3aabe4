import { ConnectorError } from './contract.ts';

/** Returns a function to call with the position of each page of a list before it is requested. It fails if the vendor sends a run in circles. */
export function eachPageOnce(what: string): (position: string) => void {
  const seen = new Set<string>();
  return (position) => {
    if (seen.has(position)) throw new ConnectorError('incomplete', `The pages of ${what} repeat: the vendor refers to a page that was already read.`);
    seen.add(position);
  };
}
