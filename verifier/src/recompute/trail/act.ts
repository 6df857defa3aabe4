/** When something was done, and by whom. */
export interface Act {
  at: string;
  person: string | null;
}
