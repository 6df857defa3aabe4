/** CISA's decision on how urgent a vulnerability is (Stakeholder-Specific Vulnerability Categorization). */
export interface Ssvc {
  exploitation: 'none' | 'poc' | 'active';
  automatable: boolean | null;
  technical_impact: 'partial' | 'total' | null;
  /** Day of the decision. */
  date: string | null;
}
