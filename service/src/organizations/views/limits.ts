/** So many views fit into a menu, for a person and for the organization. */
export const MOST_VIEWS = 200;
export const MOST_PREFERENCE_BYTES = 16_384;
