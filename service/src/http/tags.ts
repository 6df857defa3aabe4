/** The sections of the published API description, in the order in which people work. */
export const tags = [
  { name: 'Imports', description: 'Upload scanner reports and follow their imports.' },
  { name: 'Findings', description: 'Weaknesses on assets, merged from all sources. List, triage, export.' },
  { name: 'Work items', description: 'Remediation tasks: their findings, status, approvals and tickets.' },
  { name: 'Evidence', description: 'Artifacts, evidence packages, share links, signing keys and the transparency log.' },
  { name: 'Integrations', description: 'Connections to scanners, ticketing systems and vulnerability data, with their runs and health.' },
  { name: 'Assets', description: 'Hosts, images, repositories and other things that findings are about.' },
  { name: 'Webhooks and events', description: 'Signed webhook deliveries and the event stream.' },
  { name: 'Organization', description: 'Your organization, its policy and its audit trail.' },
  { name: 'Members and keys', description: 'Members, API keys, sessions and the current credential.' },
  { name: 'Views and preferences', description: 'Saved views of lists, and what a person prefers.' },
  { name: 'Description', description: 'The OpenAPI description itself.' },
] as const;

export type Tag = (typeof tags)[number]['name'];
