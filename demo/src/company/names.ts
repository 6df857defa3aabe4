/** An invented parcel carrier. Everything about it ends in `.example`, so that no name belongs to anybody. */
export const company = { name: 'Meridian Parcel', domain: 'meridian-parcel.example' } as const;

type Team = 'Storefront' | 'Logistics' | 'Platform';

export type Language = 'typescript' | 'java' | 'python' | 'go';

export interface Product {
  name: string;
  team: Team;
  language: Language;
  criticality: 'low' | 'medium' | 'high' | 'critical';
  exposure: 'internet' | 'internal';
}

/** Each product has a repository and an image. */
export const products: readonly Product[] = [
  { name: 'checkout', team: 'Storefront', language: 'typescript', criticality: 'critical', exposure: 'internet' },
  { name: 'label-printer', team: 'Logistics', language: 'go', criticality: 'high', exposure: 'internal' },
  { name: 'identity', team: 'Platform', language: 'java', criticality: 'critical', exposure: 'internet' },
  { name: 'web-shop', team: 'Storefront', language: 'typescript', criticality: 'high', exposure: 'internet' },
  { name: 'route-planner', team: 'Logistics', language: 'python', criticality: 'high', exposure: 'internal' },
  { name: 'event-bus', team: 'Platform', language: 'java', criticality: 'high', exposure: 'internal' },
  { name: 'payments', team: 'Storefront', language: 'java', criticality: 'critical', exposure: 'internal' },
  { name: 'tracking-api', team: 'Logistics', language: 'go', criticality: 'critical', exposure: 'internet' },
  { name: 'notifications', team: 'Platform', language: 'typescript', criticality: 'medium', exposure: 'internal' },
  { name: 'returns', team: 'Storefront', language: 'python', criticality: 'medium', exposure: 'internet' },
  { name: 'depot-scheduler', team: 'Logistics', language: 'java', criticality: 'medium', exposure: 'internal' },
  { name: 'report-builder', team: 'Platform', language: 'python', criticality: 'low', exposure: 'internal' },
  { name: 'customs-forms', team: 'Logistics', language: 'typescript', criticality: 'medium', exposure: 'internal' },
  { name: 'admin-portal', team: 'Storefront', language: 'typescript', criticality: 'high', exposure: 'internal' },
];

export const servers = [
  { name: 'vpn-gw1', team: 'Platform', criticality: 'critical', exposure: 'internet' },
  { name: 'db-primary', team: 'Platform', criticality: 'critical', exposure: 'internal' },
  { name: 'depot-hub1', team: 'Logistics', criticality: 'high', exposure: 'internal' },
  { name: 'mail-relay', team: 'Platform', criticality: 'medium', exposure: 'internet' },
  { name: 'build-runner3', team: 'Platform', criticality: 'medium', exposure: 'internal' },
  { name: 'depot-hub2', team: 'Logistics', criticality: 'high', exposure: 'internal' },
  { name: 'files1', team: 'Storefront', criticality: 'low', exposure: 'internal' },
  { name: 'kiosk-proxy', team: 'Storefront', criticality: 'medium', exposure: 'internet' },
] as const satisfies readonly Omit<Product, 'language'>[];

export const websites = [
  { name: 'www', team: 'Storefront', criticality: 'critical' },
  { name: 'track', team: 'Logistics', criticality: 'high' },
  { name: 'business', team: 'Storefront', criticality: 'high' },
  { name: 'status', team: 'Platform', criticality: 'low' },
] as const;

export interface Person {
  name: string;
  email: string;
  role: 'owner' | 'admin' | 'analyst' | 'viewer' | 'auditor';
}

const person = (name: string, role: Person['role']): Person => ({ name, role, email: `${name.split(' ')[0]?.toLowerCase()}@${company.domain}` });
export const people = {
  owner: person('Ines Okafor', 'owner'),
  analyst: person('Jonas Lindqvist', 'analyst'),
  secondAnalyst: person('Mei Tanaka', 'analyst'),
  admin: person('Tomasz Nowak', 'admin'),
  developer: person('Priya Raman', 'viewer'),
  auditor: person('Ruth Abrams', 'auditor'),
} as const;
/** The demo listens only on this machine, and its data is thrown away. */
export const PASSWORD = 'parcels-on-time-2026';
