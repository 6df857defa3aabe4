import { type Random, randomOf } from '../../../service/src/testing/truth/random.ts';
import { type Catalogue, catalogueOf, type Package, type Vulnerability } from './catalogue.ts';
import { type CodeRule, codeRules, extensions, fileNames, folders, hostChecks, pages, secretRules, webAlerts } from './checks.ts';
import { company, type Product, products, servers, websites } from './names.ts';

/** Present from the week `from` until before the week `until`. Weeks count from the beginning of the history. */
interface Span {
  from: number;
  until: number;
}

export interface Installed {
  package: Package;
  /** The week in which the fixed version is installed. */
  upgraded: number;
}

export interface Image extends Product {
  /** Without the tag. */
  repository: string;
  packages: readonly Installed[];
}

interface CodeWeakness extends Span {
  rule: CodeRule;
  path: string;
  line: number;
}

interface LeakedSecret extends Span {
  rule: (typeof secretRules)[number];
  line: number;
  commit: string;
}

export interface Repository extends Product {
  address: string;
  weaknesses: readonly CodeWeakness[];
  secrets: readonly LeakedSecret[];
}

export interface Host {
  name: string;
  address: string;
  team: string;
  criticality: Product['criticality'];
  exposure: Product['exposure'];
  checks: readonly (Span & { check: (typeof hostChecks)[number] })[];
}

export interface Website {
  url: string;
  team: string;
  criticality: Product['criticality'];
  alerts: readonly (Span & { alert: (typeof webAlerts)[number]; page: string })[];
}

export interface World {
  weeks: number;
  catalogue: Catalogue;
  images: readonly Image[];
  repositories: readonly Repository[];
  hosts: readonly Host[];
  websites: readonly Website[];
}

export interface Size {
  weeks: number;
  /** How many of the products, servers and websites exist, from 0 to 1. */
  share: number;
}

export const fullSize: Size = { weeks: 8, share: 1 };
const NEVER = Number.POSITIVE_INFINITY;

/** A company in which things break and are mended for some weeks. The same seed makes the same company. */
export function worldOf({ weeks, share }: Size, seed = 1): World {
  const random = randomOf(seed);
  const catalogue = catalogueOf(random, weeks);
  const some = <T>(all: readonly T[]): readonly T[] => all.slice(0, Math.max(1, Math.round(all.length * share)));
  /** `mended`: the chance per week. */
  const span = (mended: number): Span => ({
    from: random.chance(0.85) ? 0 : random.number(weeks),
    until: endOf(random, mended, weeks),
  });
  return {
    weeks,
    catalogue,
    images: some(products).map((product) => ({
      ...product,
      repository: `registry.${company.domain}/${product.team.toLowerCase()}/${product.name}`,
      packages: installed(random, catalogue, product, weeks),
    })),
    repositories: some(products).map((product) => ({
      ...product,
      address: `github.com/meridian-parcel/${product.name}`,
      weaknesses: Array.from({ length: 45 + random.number(30) }, (_, n) => ({ ...codeWeakness(random, product, n), ...span(0.04) })),
      secrets: secretRules.filter(() => random.chance(0.6)).map((rule) => ({ rule, line: 3 + random.number(40), commit: hex(random, 40), ...span(0.1) })),
    })),
    hosts: some(servers).map((server, n) => ({
      ...server,
      name: `${server.name}.${company.domain}`,
      address: `10.20.${n}.${10 + n}`,
      checks: hostChecks.filter(() => random.chance(0.65)).map((check) => ({ check, ...span(0.04) })),
    })),
    websites: some(websites).map((site) => ({
      ...site,
      url: `https://${site.name}.${company.domain}`,
      alerts: webAlerts.flatMap((alert) => pages.filter(() => random.chance(0.35)).map((page) => ({ alert, page, ...span(0.03) }))),
    })),
  };
}

/** The first week in which something is mended, if it has this chance in every week. */
function endOf(random: Random, chance: number, weeks: number): number {
  for (let week = 1; week < weeks; week++) if (random.chance(chance)) return week;
  return NEVER;
}

function installed(random: Random, catalogue: Catalogue, { language }: Product, weeks: number): Installed[] {
  const system = catalogue.system.filter(() => random.chance(0.9));
  // The first library of a language has its best known vulnerability, which somebody mends halfway.
  return [...system, ...catalogue.libraries[language]].map((one) => ({
    package: one,
    upgraded: one === catalogue.libraries[language][0] ? Math.ceil(weeks / 2) : endOf(random, 0.04, weeks),
  }));
}

function codeWeakness(random: Random, { language }: Product, n: number): Omit<CodeWeakness, keyof Span> {
  const path = `${random.pick(folders[language])}/${random.pick(fileNames)}.${extensions[language]}`;
  return { rule: random.pick(codeRules[language]), path, line: 7 + 11 * n };
}

function hex(random: Random, length: number): string {
  return Array.from({ length }, () => random.number(16).toString(16)).join('');
}

export const isPresent = ({ from, until }: Span, week: number): boolean => from <= week && week < until;

/** What a tool knows about a package in this week. */
export function knownVulnerabilities({ package: { vulnerabilities }, upgraded }: Installed, week: number): Vulnerability[] {
  return week >= upgraded ? [] : vulnerabilities.filter(({ published }) => published <= week);
}

/** One release a week: 2.0.0, 2.1.0 and so on. */
export const tagOf = (week: number): string => `2.${week}.0`;
