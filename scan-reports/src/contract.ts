/** What every report format is turned into, and what a format has to provide. Pure: bytes in, observations out. */

export const severities = ['critical', 'high', 'medium', 'low', 'info', 'unknown'] as const;
export type Severity = (typeof severities)[number];

export const assetTypes = ['host', 'container_image', 'repository', 'package', 'web_application', 'cloud_resource', 'other'] as const;
export type AssetType = (typeof assetTypes)[number];

export interface Asset {
  type: AssetType;
  /** The name people know it by: FQDN or address of a host, image reference, repository, origin of a web application, ARN … */
  name: string;
  /** Further names of the same thing, by which another source may know it. */
  identifiers?: AssetIdentifier[];
}

export interface AssetIdentifier {
  kind: 'ip' | 'fqdn' | 'hostname' | 'netbios' | 'mac' | 'digest' | 'image_id' | 'arn' | 'cloud_id' | 'agent_id' | 'url' | 'purl';
  value: string;
}

/** The place on the asset. What a format does not know is absent. */
export interface Location {
  component?: string;
  version?: string;
  /** The first version without the weakness; several separated by ", ". */
  fixed_version?: string;
  purl?: string;
  /** File, with "/" between its parts. */
  path?: string;
  line?: number;
  end_line?: number;
  port?: number;
  protocol?: string;
  url?: string;
  method?: string;
  parameter?: string;
  /** Address of a resource in code or cloud: "aws_s3_bucket.logs", an ARN, "Deployment/web". */
  resource?: string;
  /** The tool's own stable mark of the place, which survives moved lines; takes the place of `line` in the identity. */
  fingerprint?: string;
}

export interface Cvss {
  vector: string;
  /** As the report states it; vectors are scored again by the service. */
  score?: number;
}

/** One record of a report: this weakness, on this asset, at this place, is there (or is said to be gone). */
export interface Observation {
  /** Where in the file it stands: `Results[0].Vulnerabilities[3]`, `line 12`, `ReportHost[2]/ReportItem[7]`. */
  place: string;
  /** The tool that found it, in lower case: `trivy`, `nessus`; for containers like SARIF the tool inside. */
  tool: string;
  /** The tool's name of the check: rule id, plugin id, template id. Null only where a vulnerability id says what it is. */
  rule: string | null;
  /** The tool's own id of this very finding, if the next scan will use the same one. Never an id that is new in each scan. */
  external_id: string | null;
  title: string;
  description: string | null;
  solution: string | null;
  severity: Severity;
  /** The severity in the tool's own words. */
  tool_severity: string | null;
  /** CVE, GHSA and other public ids of the same vulnerability, upper case, CVE first, no repeats. */
  vulnerability_ids: string[];
  /** Numbers, no repeats. */
  cwes: number[];
  cvss: Cvss[];
  references: string[];
  /** Null: the report does not say; the import does. */
  asset: Asset | null;
  location: Location;
  /** False: the source says that it is gone (fixed, resolved, closed). */
  present: boolean;
  /** The source keeps it but wants it ignored: accepted suppression, muted, marked false positive, archived. */
  suppressed: boolean;
  first_seen: Date | null;
  last_seen: Date | null;
  tags: string[];
}

/** A record that cannot be read. The rest of the report goes on. */
export interface Rejection {
  place: string;
  reason: string;
}

export type ReportItem = { observation: Observation } | { rejection: Rejection };

/** A report that may be read several times, from its beginning each time. */
export interface ReportInput {
  open(): AsyncIterable<Uint8Array>;
  filename: string | null;
}

/** What detection goes by: the beginning of the file, already looked at. */
export interface ReportHead {
  /** The first 64 KiB as text. */
  text: string;
  filename: string | null;
  /** Keys of the top-level object, or of the first object of a top-level array or of JSON lines, as far as the beginning shows them. */
  jsonKeys: readonly string[];
  jsonShape: 'object' | 'array' | 'lines' | null;
  /** Local name and namespace of the XML root. */
  xmlRoot: { name: string; namespace: string } | null;
  /** Cells of the lines that may be a CSV header (the first 20). */
  csvRows: readonly (readonly string[])[];
}

/** What a report says of itself. */
export interface About {
  /** Which tools wrote it: what one no longer reports says nothing about another's findings. Null: always the same one, that of the format. */
  tools: readonly string[] | null;
  /** False: a run did not come to its end, so that what is not there may still be. */
  finished: boolean;
  /**
   * Files, and folders with all that is below them, that the tool says it could not or did not look at: what is not reported there may
   * still be. Written as `location.path` of the format's observations is.
   */
  unread: readonly string[];
  /** The kind of asset this report is about where it does not name it, if that is not the format's. */
  assetType?: AssetType;
}

export interface ReportFormat {
  /** Also the folder's name and the source of its findings: `trivy`, `npm_audit`. */
  id: string;
  name: string;
  /** One sentence for people: which command or export makes such a file. */
  description: string;
  /** Where the format is documented. */
  documentation: string;
  /** What a matching file looks like, for the message that refuses one that is none: "a JSON object with SchemaVersion and Results". */
  expects: string;
  /** The kind of asset its reports are about, for the ones that do not name it. */
  assetType: AssetType;
  detect(head: ReportHead): boolean;
  /** For formats that several tools write, or that say what was not looked at. Streams too. */
  about?(input: ReportInput): Promise<About>;
  /** Streams; memory does not grow with the number of records. Throws ReportError when the file as a whole cannot be trusted to be complete. */
  read(input: ReportInput): AsyncGenerator<ReportItem>;
}

/** The file is not what it should be, or ends too early. Says what was expected. */
export class ReportError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'ReportError';
  }
}
