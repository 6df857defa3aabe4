/** How important an asset is to the business. */
export const criticalities = ['low', 'medium', 'high', 'critical'] as const;
/** From where an asset can be reached. */
export const exposures = ['internet', 'internal', 'unknown'] as const;
