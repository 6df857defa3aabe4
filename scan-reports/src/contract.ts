/** The observations that every report is converted to, and the interface that a format implements. No I/O: bytes in, observations out. */

export const severities = ['critical', 'high', 'medium', 'low', 'info', 'unknown'] as const;
export type Severity = (typeof severities)[number];

export const assetTypes = ['host', 'container_image', 'repository', 'package', 'web_application', 'cloud_resource', 'other'] as const;
export type AssetType = (typeof assetTypes)[number];

/** Never changed once it is made, so that what is derived from it can be remembered for all records that are about it. */
export interface Asset {
  readonly type: AssetType;
  /** The name people use for it: FQDN or address of a host, image reference, repository, origin of a web application, ARN. */
  readonly name: string;
  /** Other names of the same asset, which another source may use. */
  readonly identifiers?: readonly AssetIdentifier[];
  /** The build that was scanned, if the report states it apart from the name: a release or a tag. */
  readonly version?: string;
  /** The commit that was scanned. */
  readonly commit?: string;
  /** Branch, tag or pull request that was scanned, as the report writes it: `main`, `refs/pull/17/merge`. */
  readonly ref?: string;
  /** The platform that an image was built for: `linux/arm64`. The same tag names other packages on another one. */
  readonly platform?: string;
  /** The workload of a cluster that runs the image: namespace, kind, name and container. Other workloads and containers can run other builds of it. */
  readonly workload?: string;
  /** Set if the name is the one under which people see the asset in the service: they state it, or the file is an export, which can also have the id. */
  readonly stated?: { readonly id?: string };
}

export interface AssetIdentifier {
  kind: 'ip' | 'fqdn' | 'hostname' | 'netbios' | 'mac' | 'digest' | 'image_id' | 'arn' | 'cloud_id' | 'agent_id' | 'url' | 'purl';
  value: string;
}

/** The location inside the asset. Unknown fields are absent. */
export interface Location {
  component?: string;
  version?: string;
  /** The first version without the weakness. Several versions are separated by ", ". */
  fixed_version?: string;
  purl?: string;
  /** Type of package, as in a package URL: `npm`, `pypi`, `deb`. Only where there is no package URL. */
  ecosystem?: string;
  /** Source package that a package of a distribution was built from. */
  source_package?: string;
  /** Layer of an image that contains the component: its digest or diff id. */
  layer?: string;
  /** File path with "/" as separator. */
  path?: string;
  line?: number;
  end_line?: number;
  port?: number;
  protocol?: string;
  url?: string;
  method?: string;
  parameter?: string;
  /** Address of a resource in code or in a cloud: "aws_s3_bucket.logs", an ARN, "Deployment/web". */
  resource?: string;
  /** The tool's own fingerprint of the location, which does not change when lines move. Replaces `line` in the identity key. */
  fingerprint?: string;
  /** The code itself, if the report quotes it. It recognizes code that moved. */
  snippet?: string;
}

/** A rating has a vector, a score or both. */
export interface Cvss {
  vector?: string;
  /** The score that the report states. The service computes its own score if there is a vector. */
  score?: number;
  /** CVSS version of a score without a vector: `2.0`, `3.1`, `4.0`. */
  version?: string;
}

export interface Epss {
  /** From 0 to 1. */
  score: number;
  /** From 0 to 1. */
  percentile?: number;
  /** `2026-11-15` */
  date?: string;
}

/** How far exploits have developed: none known, proof of concept, working exploit, used in attacks. */
export const exploitMaturities = ['unreported', 'proof_of_concept', 'functional', 'attacked'] as const;
export type ExploitMaturity = (typeof exploitMaturities)[number];

/** Whether there is a fix. `will_not_fix` and `end_of_life` are decisions of the supplier. */
export const fixStates = ['available', 'not_available', 'will_not_fix', 'end_of_life'] as const;
export type FixState = (typeof fixStates)[number];

/** A VEX statement, in the vocabulary of CycloneDX. */
export interface Analysis {
  state?: string;
  justification?: string;
  response?: string;
  detail?: string;
}

/** One record of a report: a weakness on an asset, at a location, that is present or that the source reports as gone. */
export interface Observation {
  /** Position of the record in the file: `Results[0].Vulnerabilities[3]`, `line 12`, `ReportHost[2]/ReportItem[7]`. */
  place: string;
  /** The tool that found it, in lower case: `trivy`, `nessus`. For container formats such as SARIF, the tool that produced the result. */
  tool: string;
  /** The tool's id of the check: rule id, plugin id, template id. Null only if a vulnerability id identifies the weakness. */
  rule: string | null;
  /** The tool's id of this finding, if the next scan uses the same id. Never an id that changes with every scan. */
  external_id: string | null;
  title: string;
  description: string | null;
  solution: string | null;
  severity: Severity;
  /** The severity as the tool writes it. */
  tool_severity: string | null;
  /** CVE, GHSA and other public ids of the vulnerability in canonical case. CVE ids first, no duplicates. */
  vulnerability_ids: string[];
  /** CWE numbers without duplicates. */
  cwes: number[];
  cvss: Cvss[];
  references: string[];
  /** Null if the report does not name the asset. The import then supplies it. */
  asset: Asset | null;
  location: Location;
  /** False if the source reports the weakness as gone (fixed, resolved, closed). */
  present: boolean;
  /** True if the source reports the finding and suppresses it: accepted suppression, muted, marked as false positive, archived. */
  suppressed: boolean;
  first_seen: Date | null;
  last_seen: Date | null;
  tags: string[];
  /** Who rated the severity, if it is not the tool itself: `nvd`, `debian`, `ghsa`. */
  severity_source?: string;
  epss?: Epss;
  exploit_maturity?: ExploitMaturity;
  /** True if the report says that the vulnerability is exploited in the wild, for example because CISA lists it or the exploit maturity is `attacked`. */
  known_exploited?: boolean;
  /** True if the component itself is malicious. */
  malicious?: boolean;
  fix_state?: FixState;
  /** The day on which a fix was published: `2026-11-15`. */
  fix_published_date?: string;
  analysis?: Analysis;
}

/** A record that cannot be read. Reading continues with the next record. */
export interface Rejection {
  /** Position of the record in the file. */
  place: string;
  reason: string;
}

/** What a report states about the run that wrote it. Unknown facts are absent. */
export interface RunFacts {
  /** An asset that the run covered, even if it found nothing there. The other facts then hold for this asset only. */
  asset?: Asset;
  tool_version?: string;
  started_at?: Date;
  finished_at?: Date;
  /** Version and date of the vulnerability database or plugin feed. */
  knowledge?: string;
  knowledge_at?: Date;
  /** Whether the tool could log in to the asset. */
  credentialed?: boolean;
  /** All checks that were enabled, by `rule`. Only if the report lists them completely. `startChecks` adds where each was made, if the report says so. */
  checks?: readonly string[];
  /** All files that the tool read, in the form of `location.path`. Only if the report lists them completely. */
  files?: readonly string[];
  /** Kinds of findings that the report says the tool looked for, even if it found none. Only if no option can have left some of them out. */
  looked_for?: readonly LookedFor[];
  /** Kinds of findings that the tool did not look for, or of which the report does not show that it did, although it would if there were any left. */
  left_out?: readonly LookedFor[];
  /** Files and folders (with everything below them) in which comments in the code or lists of exceptions hid findings. `.` if it is not known where. */
  hidden_in?: readonly string[];
  /** Options of the tool that leave out findings, as far as the report states them: `severity-threshold=high`. */
  restrictions?: readonly string[];
  /** Ports that were scanned, as `tcp/1-1024`, or `any/1-1024` if the protocol is not stated. */
  ports?: readonly string[];
  /** Components that the report lists, whether or not it has findings of them. */
  components?: readonly ListedComponent[];
  /** Lock files of a repository that the report names, and how many of them have no findings. Most tools do not name those: one that does names each that it reads. */
  lock_files?: readonly string[];
  clean_lock_files?: number;
  /** How many dependencies the tool checked. It tells one lock file from another if the report does not name them. */
  dependencies?: number;
  /** True if the scan of the asset did not come to its end. */
  unfinished?: boolean;
  /** True if the report is an inventory of components without a list of vulnerabilities. It says nothing about findings. */
  inventory_only?: boolean;
}

/** A component in one version, with the name that findings of the same report have as `location.component`. */
export interface ListedComponent {
  name: string;
  version: string;
}

/** Kinds of findings that tools have options to leave out. A severity is what the tool says. `known` was known when a baseline was set, `suppressed` is any finding that the tool was told to ignore. */
export const lookedForKinds = [
  'system_packages',
  'libraries',
  'files',
  'secrets',
  'misconfigurations',
  'licenses',
  'up_to_medium',
  'info',
  'low',
  'medium',
  'high',
  'critical',
  'without_fix',
  'known',
  'suppressed',
] as const;
export type LookedFor = (typeof lookedForKinds)[number];
/** Those that a report may not show to have been looked for although they were. The scope can say so. */
export const statableKinds = ['secrets', 'misconfigurations', 'licenses', 'known', 'suppressed'] as const satisfies readonly LookedFor[];

/** Facts about a run that decide whether it was able to see a finding. */
export const runFacts = ['time', 'credentials', 'knowledge', 'checks', 'targets'] as const;
export type RunFact = (typeof runFacts)[number];

export type ReportItem = { observation: Observation } | { rejection: Rejection };

/** What reading a report yields. Facts about the run come when they are known, the last statement of a fact wins. */
export type ReportEntry = ReportItem | { run: RunFacts };

/** A report that can be read several times. Each `open()` starts at the beginning. */
export interface ReportInput {
  open(): AsyncIterable<Uint8Array>;
  filename: string | null;
}

/** The beginning of a file, prepared for format detection. */
export interface ReportHead {
  /** The first 64 KiB as text. */
  text: string;
  filename: string | null;
  /** Keys of the top-level object, or of the first object of a top-level array or of JSON Lines, as far as `text` contains them. */
  jsonKeys: readonly string[];
  jsonShape: 'object' | 'array' | 'lines' | null;
  /** Local name and namespace of the XML root element. */
  xmlRoot: { name: string; namespace: string } | null;
  /** Cells of the first 20 lines, each of which may be a CSV header. */
  csvRows: readonly (readonly string[])[];
}

/** What a report states about its own run. */
export interface About {
  /** Tools that produced the report. A report says nothing about findings of other tools. Null if the format always has the same tool. */
  tools: readonly string[] | null;
  /** What was analyzed, if the tool runs once for each part, such as a language. A run of one part says nothing about findings of the others. */
  part?: string;
  /** False if a run did not complete. Findings that are missing from the report may then still exist. */
  finished: boolean;
  /** Files and folders (with everything below them) that the tool did not scan, in the form of `location.path`. Findings missing there may still exist. */
  unread: readonly string[];
  /**
   * Checks that were skipped in a file or on a site, or of which the report may not list all places there: by `rule` and `location.path` or the origin of
   * `location.url`, or everywhere if the path is null. A tool may leave out the first parts of a name that it skips everywhere: `sql` can mean `python.sql`.
   */
  skipped?: readonly { rule: string; path: string | null }[];
  /** Asset type of this report if it does not name its asset and the type differs from the format's `assetType`. */
  assetType?: AssetType;
}

export interface ReportFormat {
  /** Also the name of the folder and the source of the findings: `trivy`, `npm_audit`. */
  id: string;
  name: string;
  /** For users: the command or export that produces such a file. */
  description: string;
  /** URL or repository path of the format's documentation. */
  documentation: string;
  /** Noun phrase that completes "Expected …" in the error for a file of another format: "a JSON object with SchemaVersion and Results". */
  expects: string;
  /** Asset type of reports that do not name their asset. */
  assetType: AssetType;
  /**
   * Facts that reports of this format normally state. A report that lacks one of them closes nothing that depends on it. A fact that the format never
   * states does not prevent closing.
   */
  states?: readonly RunFact[];
  /** Whether such a report names every asset of `assetType` that the run reached, also those without findings. One that names none has reached none. */
  listsAssets?(head: ReportHead): boolean;
  detect(head: ReportHead): boolean;
  /** For formats that several tools write, or whose reports list what was not scanned. Must stream. */
  about?(input: ReportInput): Promise<About>;
  /** Must stream: memory does not grow with the number of records. Throws ReportError if the file is incomplete or of another format. */
  read(input: ReportInput): AsyncGenerator<ReportEntry>;
}

/** The file cannot be read: it has another format, is damaged or incomplete. The message is shown to users. */
export class ReportError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'ReportError';
  }
}
