/** A source that has scanned nothing for so many days is stale: it may have been switched off. Nothing is closed because of it. */
export const STALE_DAYS = 45;
