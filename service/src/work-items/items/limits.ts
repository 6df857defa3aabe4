/** Most findings per work item. */
export const MAX_FINDINGS = 10_000;
