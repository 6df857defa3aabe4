// Generated from service/openapi.json by `npm run client:generate`. Do not edit.

/** A file or other bytes to send. */
export type Bytes = Blob | ReadableStream<Uint8Array> | Uint8Array<ArrayBuffer> | ArrayBuffer;

export type AcceptanceApproval = {
  /** Why you approve the acceptance */
  reason?: string;
};

export type AcceptanceRejection = {
  /** Why you reject the acceptance, or withdraw your own request */
  reason: string;
};

export type AliasClaim = {
  /** The tool */
  provider: string;
  /** The vulnerability that the tool takes it for */
  vulnerability: string;
  /** When a report of the tool first said so */
  claimed_at: string;
};

export type AliasCreate = {
  /** Another id of a vulnerability */
  alias: string;
  /** The vulnerability that the alias stands for */
  vulnerability: string;
  /** Why the two ids are those of one vulnerability */
  reason: string;
};

export type AliasRestoration = {
  /** Why the alias is right after all */
  reason: string;
};

export type AliasRevocation = {
  /** Why the alias is wrong */
  reason: string;
};

export type ApiKey = {
  /** ID (UUIDv7) */
  id: string;
  /** Display name */
  name: string;
  /** Role: `owner` can do everything, including changes to the organization. `admin` can do what an analyst can, manage members, API keys, webhooks and integrations, and read the audit trail. `analyst` can do what a viewer can, import reports, triage findings, and manage assets, work items and evidence. `viewer` can read everything except API keys, webhooks and the audit trail. `auditor` can read what a viewer can, and the audit trail */
  role: Role;
  /** First characters of the key, to tell keys apart */
  prefix: string;
  /** Whether the key can be used */
  status: 'active' | 'expired' | 'revoked';
  /** Name of the person or key that created it */
  created_by: string;
  /** When the key expires. null: never */
  expires_at: string | null;
  /** When the key was last used, accurate to a few seconds */
  last_used_at: string | null;
  /** When the key was revoked */
  revoked_at: string | null;
  /** Version of the object, also its ETag. Each change increases it by 1 */
  version: number;
  /** When the object was created */
  created_at: string;
  /** When the object was last changed */
  updated_at: string;
};

export type ApiKeyCreate = {
  /** Display name, with at least one visible character */
  name: string;
  /** Role: `owner` can do everything, including changes to the organization. `admin` can do what an analyst can, manage members, API keys, webhooks and integrations, and read the audit trail. `analyst` can do what a viewer can, import reports, triage findings, and manage assets, work items and evidence. `viewer` can read everything except API keys, webhooks and the audit trail. `auditor` can read what a viewer can, and the audit trail */
  role: Role;
  /** When the key expires, in the future. null or absent: never. A caller who is not a member can create keys for 24 hours, and a key of no member that expires only keys that expire with it */
  expires_at?: string | null;
};

export type ApiKeyCreated = {
  /** ID (UUIDv7) */
  id: string;
  /** Display name */
  name: string;
  /** Role: `owner` can do everything, including changes to the organization. `admin` can do what an analyst can, manage members, API keys, webhooks and integrations, and read the audit trail. `analyst` can do what a viewer can, import reports, triage findings, and manage assets, work items and evidence. `viewer` can read everything except API keys, webhooks and the audit trail. `auditor` can read what a viewer can, and the audit trail */
  role: Role;
  /** First characters of the key, to tell keys apart */
  prefix: string;
  /** Whether the key can be used */
  status: 'active' | 'expired' | 'revoked';
  /** Name of the person or key that created it */
  created_by: string;
  /** When the key expires. null: never */
  expires_at: string | null;
  /** When the key was last used, accurate to a few seconds */
  last_used_at: string | null;
  /** When the key was revoked */
  revoked_at: string | null;
  /** Version of the object, also its ETag. Each change increases it by 1 */
  version: number;
  /** When the object was created */
  created_at: string;
  /** When the object was last changed */
  updated_at: string;
  /** The key. It cannot be retrieved again */
  key: string;
};

export type ApiKeyList = {
  /** The items of this page */
  data: ApiKey[];
  page: Page;
};

export type ApiKeyPatch = {
  /** Display name, with at least one visible character */
  name?: string;
  /** When the key expires, in the future. null: never */
  expires_at?: string | null;
};

export type Approval = {
  /** Id of the approval (UUIDv7) */
  id: string;
  /** The decision */
  decision: 'approved' | 'rejected';
  /** Comment on the decision */
  comment: string | null;
  /** Who decided */
  by: {
    /** Kind of actor: `member`, `api_key`, `oidc` or `system` */
    type: string;
    /** Id of the actor */
    id: string | null;
    /** Name of the actor at that time */
    name: string;
  };
  /** The person behind the credential */
  person: {
    /** Id of the member. If no member stands behind the credential: id of the API key, or subject of the access token */
    id: string;
    /** Name of the person */
    name: string;
  } | null;
  /** Whether the person had no part in the work (creation, assignment, status changes, artifacts, claims), nor anybody who set their password */
  independent: boolean;
  /** Digest of the state that was decided on */
  state_digest: string;
  /** Status of the work item at that time */
  work_item_status: WorkItemStatus;
  /** Version of the work item at that time */
  work_item_version: number;
  /** When the decision was made */
  occurred_at: string;
};

export type ApprovalCreate = {
  /** The decision */
  decision: 'approved' | 'rejected';
  /** Digest of the state that you saw, from `GET /work-items/{id}/state` */
  state_digest: string;
  /** Comment on the decision. Required for a rejection */
  comment?: string;
};

export type ApprovedState = {
  /** SHA-256 of the lines, each ended by a line feed, in hexadecimal */
  state_digest: string;
  /** The work item and its policy, then each finding, removed finding and artifact, sorted by id */
  lines: string[];
};

export type Artifact = {
  /** Short title. */
  title: string;
  /** Id of the artifact. */
  id: string;
  /** Id of the work item. */
  work_item_id: string;
  /** What the artifact documents. */
  type: ArtifactType;
  /** Details. Null if none were given. */
  description: string | null;
  /** When the documented event happened. Null if unknown. */
  occurred_at: string | null;
  /** Whether the service has the content. False for a link. */
  captured: boolean;
  /** The link, without credentials. Null for a file. */
  url: string | null;
  /** What was removed before the artifact was stored. */
  redactions: ArtifactRedaction[];
  /** Where the content was captured from. Null unless the artifact is the captured content of a link. */
  capture: {
    /** The link that was captured. */
    url: string;
    /** Provider of the connection that read the link, such as `jira`. */
    provider: string;
    /** Id of the connection that read the link. */
    connection_id: string;
    /** When the content was read. */
    captured_at: string;
  } | null;
  /** File name as uploaded. Null for a link. */
  filename: string | null;
  /** Media type detected from the content; the type that the client sent is ignored. Null for a link. */
  media_type:
    | 'application/pdf'
    | 'image/png'
    | 'image/jpeg'
    | 'image/gif'
    | 'image/webp'
    | 'application/zip'
    | 'application/gzip'
    | 'application/json'
    | 'application/xml'
    | 'text/plain'
    | 'application/octet-stream'
    | null;
  /** Size of the content in bytes. Null for a link. */
  size: number | null;
  /** SHA-256 of the content in hexadecimal. Null for a link. */
  sha256: string | null;
  /** Id of the artifact that this one replaces. */
  supersedes: string | null;
  /** Id of the artifact that replaces this one. */
  superseded_by: string | null;
  /** Who removed the artifact, when and why. Null unless it was removed. */
  removed: {
    /** When it was removed. */
    at: string;
    by: EvidencePerson;
    /** Why it was removed. */
    reason: string;
  } | null;
  /** When the artifact was added. */
  added_at: string;
  added_by: EvidencePerson;
};

export type ArtifactLink = {
  /** Short title. */
  title: string;
  /** What the artifact documents. */
  type: ArtifactType;
  /** Details, up to 10,000 characters. */
  description?: string | null;
  /** When the documented event happened, if known. At most one day in the future. */
  occurred_at?: string | null;
  /** Id of the artifact that this one replaces. It must belong to the same work item. */
  supersedes?: string | null;
  /** An http or https URL. Credentials in the URL are removed before it is stored. */
  url: string;
};

export type ArtifactList = {
  /** The items of this page */
  data: Artifact[];
  page: Page;
};

export type ArtifactRedaction = {
  /** JSON Pointer to the changed field. */
  pointer: string;
  /** What was removed. */
  reason: string;
};

export type ArtifactType = 'pull_request' | 'commit' | 'change_ticket' | 'scan_report' | 'approval' | 'screenshot' | 'configuration' | 'test_result' | 'other';

export type Asset = {
  /** ID (UUIDv7) */
  id: string;
  /** Kind of asset */
  type: AssetType;
  /** Name as scanners report it */
  name: string;
  /** How important the asset is to the business. It contributes to the risk score of its findings */
  criticality: Level;
  /** From where the asset can be reached. It contributes to the risk score of its findings */
  exposure: Exposure;
  /** Team or person responsible for the asset */
  owner: string | null;
  /** Tags of the asset */
  tags: string[];
  findings: AssetFindings;
  /** The asset that this one was merged into. It is no longer listed */
  merged_into: string | null;
  /** Whether the asset is retired */
  retired: boolean;
  /** When the asset was retired */
  retired_at: string | null;
  /** Version of the asset, also its ETag. Each change increases it by 1 */
  version: number;
  /** When the asset was first reported */
  created_at: string;
  /** When the asset was last changed */
  updated_at: string;
};

export type AssetCreate = {
  /** Kind of asset */
  type: AssetType;
  /** Name as reports state it. The tag of an image, or the spelling of a repository address, does not matter */
  name: string;
  /** How important the asset is to the business. Default: `medium` */
  criticality?: Level;
  /** From where the asset can be reached. Default: `unknown` */
  exposure?: Exposure;
  /** Team or person responsible for the asset */
  owner?: string;
  /** Tags of the asset */
  tags?: string[];
};

export type AssetDetails = {
  /** ID (UUIDv7) */
  id: string;
  /** Kind of asset */
  type: AssetType;
  /** Name as scanners report it */
  name: string;
  /** How important the asset is to the business. It contributes to the risk score of its findings */
  criticality: Level;
  /** From where the asset can be reached. It contributes to the risk score of its findings */
  exposure: Exposure;
  /** Team or person responsible for the asset */
  owner: string | null;
  /** Tags of the asset */
  tags: string[];
  findings: AssetFindings;
  /** The asset that this one was merged into. It is no longer listed */
  merged_into: string | null;
  /** Whether the asset is retired */
  retired: boolean;
  /** When the asset was retired */
  retired_at: string | null;
  /** Version of the asset, also its ETag. Each change increases it by 1 */
  version: number;
  /** When the asset was first reported */
  created_at: string;
  /** When the asset was last changed */
  updated_at: string;
  /** The names by which reports are recognized as being about the asset */
  identifiers: {
    /** `name`, or the kind of identifier: `fqdn`, `ip`, `mac`, `arn` and others */
    kind: string;
    /** The identifier in its normal form */
    value: string;
  }[];
  /** Up to 20 other assets with an address or a name of this one. They can be the same or not: an address can belong to several hosts one after the other. Merge them if you know that they are the same */
  similar: {
    /** ID (UUIDv7) */
    id: string;
    /** Name of the other asset */
    name: string;
    /** Whether the other asset is retired */
    retired: boolean;
    /** What both have, for example an address, or a name without its domain or server */
    shared: {
      /** `name`, or the kind of identifier: `fqdn`, `ip`, `mac`, `arn` and others */
      kind: string;
      /** The identifier in its normal form */
      value: string;
    }[];
  }[];
};

/** Numbers of active findings on the asset */
export type AssetFindings = {
  /** Active findings: open, in progress, or remediated and not yet verified */
  active: number;
  /** Active findings with the severity `critical` */
  critical: number;
  /** Active findings with the severity `high` */
  high: number;
  /** Active findings past their deadline, without suppressed ones */
  overdue: number;
  /** Highest risk score of an active finding. `null` if there is none */
  max_risk: number | null;
};

export type AssetList = {
  /** The items of this page */
  data: Asset[];
  page: Page;
};

export type AssetMerge = {
  /** The asset that is the same */
  into: string;
  /** Why the two are the same */
  reason?: string;
};

export type AssetPatch = {
  /** New name. Reports that use the old name are still recognized, and no report replaces the new one */
  name?: string;
  /** How important the asset is to the business. It contributes to the risk score of its findings */
  criticality?: Level;
  /** From where the asset can be reached. It contributes to the risk score of its findings */
  exposure?: Exposure;
  /** Team or person responsible for the asset. null removes it */
  owner?: string | null;
  /** All tags of the asset. They replace the current ones */
  tags?: string[];
  /** `true` retires the asset and withdraws its active findings. `false` puts it back in use, but does not reopen the findings */
  retired?: boolean;
};

export type AssetRef = {
  /** ID (UUIDv7) */
  id: string;
  /** Type of the asset */
  type: AssetType;
  /** Name of the asset */
  name: string;
  /** How important the asset is to the organization */
  criticality: Level;
  /** Where the asset can be reached from */
  exposure: Exposure;
};

export type AssetType = 'host' | 'container_image' | 'repository' | 'package' | 'web_application' | 'cloud_resource' | 'other';

export type AssetUnmerge = {
  /** Why the two are different */
  reason?: string;
};

export type AssetVersion = {
  /** Tag, release or commit of the build */
  name: string;
  /** The track that the build belongs to */
  track: string;
  /** Digest of the image */
  digest: string | null;
  /** Commit of the repository */
  commit: string | null;
  /** Time of the first scan of the build */
  first_scan: string;
  /** Time of the last scan of the build */
  last_scan: string;
  /** Up to 20 other builds of this or another asset that have the same digest, the one that was scanned last first. Each keeps its own findings, because a tag can move */
  same_digest: SameBuild[];
};

export type AssetVersionList = {
  /** The items of this page */
  data: AssetVersion[];
  page: Page;
};

export type Assurance = 'declared' | 'artifact' | 'scan_only' | 'scan_after_claim' | 'independent';

/** Who made the change */
export type AuditActor = {
  /** Kind of actor. `system` is the service itself: the command line, scheduled jobs and the first start */
  type: 'api_key' | 'member' | 'oidc' | 'system';
  /** Id of the API key or member, or the subject of the OIDC token. null for the service itself */
  id: string | null;
  /** Name of the actor at the time of the change */
  name: string;
};

export type AuditEvent = {
  /** ID (UUIDv7) */
  id: string;
  /** When the change was made */
  occurred_at: string;
  actor: AuditActor;
  /** The person behind the actor. null for the service itself and for connections */
  person: {
    /** Id of the member. If no member stands behind the credential: id of the API key, or subject of the access token */
    id: string;
    /** Name of the person */
    name: string;
  } | null;
  /** What was done: the kind of object and the change */
  action: string;
  object: AuditObject;
  /** Changed fields before the change. null if the object was created or there is nothing to show */
  before: Record<string, unknown> | null;
  /** Changed fields after the change. null if the object was deleted or there is nothing to show */
  after: Record<string, unknown> | null;
  /** Id of the request that made the change. null for the service itself */
  request_id: string | null;
  /** IP address of the client. null for the service itself */
  address: string | null;
};

export type AuditEventList = {
  /** The items of this page */
  data: AuditEvent[];
  page: Page;
};

/** The object that was changed */
export type AuditObject = {
  /** Kind of object */
  type: string;
  /** Id of the object */
  id: string;
  /** Name or title that the object has now. null if it is gone or has none */
  name: string | null;
};

/** An import that would close more than `share` of a source's open findings, and more than `count` findings, waits for confirmation */
export type Brake = {
  /** Share of the source's open findings, from 0 to 1. Default: 0.2 */
  share: number;
  /** Number of findings. Default: 50 */
  count: number;
};

/** A change of many findings. Set either `ids` or `filter` */
export type BulkChange = {
  /** Ids of the findings to change */
  ids?: string[];
  /** Changes all findings that match these filters, at most 100,000 */
  filter?: {
    /** One of these severities */
    severity?: Severity[];
    /** None of these severities */
    not_severity?: Severity[];
    /** One of these statuses */
    status?: FindingStatus[];
    /** None of these statuses */
    not_status?: FindingStatus[];
    /** Reported by this connection */
    connection_id?: string;
    /** Reported by a source with one of these providers: a report format, the provider of a connection, or `manual`. Ignores case */
    source?: string[];
    /** Reported by no source with one of these providers */
    not_source?: string[];
    /** Reported by a source of one of these kinds: `import` for uploaded reports, `connection`, or `manual` for people */
    source_kind?: ('import' | 'connection' | 'manual')[];
    /** On this asset */
    asset_id?: string;
    /** On an asset whose name starts with this text, ignoring case, or that is known by this name: an image with its tag, a repository by its clone URL */
    asset?: string;
    /** On an asset of one of these types */
    asset_type?: AssetType[];
    /** Not on an asset of one of these types */
    not_asset_type?: AssetType[];
    /** In this build of the asset: its version, tag, commit or digest. Requires `asset_id` */
    asset_version?: string;
    /** Seen on one of these branches, environments or release lines. `default` is the default track of an asset until it has a name. Active findings match only while they are still there. So do closed ones that a pull request has brought back. What only pull requests have is listed only with this filter, `asset_version` or `import_id` */
    track?: string[];
    /** Not on this branch, environment or release line at present. Together with `track`: what a branch adds to another, which includes closed findings that a pull request has brought back, and no other closed ones */
    new_since_track?: string;
    /** On an asset of one of these owners, ignoring case */
    owner?: string[];
    /** On an asset of one of these criticalities */
    criticality?: Level[];
    /** On an asset with one of these exposures */
    exposure?: Exposure[];
    /** On an asset with one of these tags */
    asset_tag?: string[];
    /** On an asset with none of these tags */
    not_asset_tag?: string[];
    /** Created, reopened, updated or closed by this import */
    import_id?: string;
    /** With one of these CVE, GHSA or other public ids, or an alias of it that counts */
    cve?: string[];
    /** With none of these CVE, GHSA or other public ids, nor an alias of them that counts */
    not_cve?: string[];
    /** With one of these CWE numbers: `79` or `CWE-79` */
    cwe?: (number | string)[];
    /** In this component, ignoring case. The name without its group also matches: `log4j-core` and `org.apache.logging.log4j:log4j-core` */
    component?: string;
    /** Not in one of these components */
    not_component?: string[];
    /** In this file or below this folder, ignoring case. The path starts at the root of the repository or image: `src` does not match `frontend/src/a.ts` */
    path?: string;
    /** Not in one of these files and not below one of these folders, as for `path` */
    not_path?: string[];
    /** Found by a check with one of these ids of the tool, ignoring case */
    rule?: string[];
    /** Not found by a check with one of these ids */
    not_rule?: string[];
    /** Whether a source knows a fix */
    has_fix?: boolean;
    /** Whether the sources that still see the finding differ by two steps of severity or more */
    severity_disputed?: boolean;
    /** Linked to this work item */
    work_item_id?: string;
    /** Whether linked to a work item that is not cancelled */
    has_work_item?: boolean;
    /** Linked to a work item that is not cancelled and is assigned to one of these, ignoring case: e-mail addresses of members, or other names */
    assignee?: string[];
    /** Whether listed by CISA as known to be exploited */
    kev?: boolean;
    /** EPSS score of at least this value */
    epss_min?: number;
    /** Risk score of at least this value */
    risk_min?: number;
    /** Whether active, not suppressed and past the deadline */
    overdue?: boolean;
    /** Whether open or in progress, and known to be exploited, past the deadline or with a risk score of at least 70 */
    fix_first?: boolean;
    /** Whether a request to accept the risk waits for approval */
    acceptance_requested?: boolean;
    /** Whether all sources that still see the finding suppress it */
    suppressed?: boolean;
    /** With one of these assurances */
    assurance?: Assurance[];
    /** With one of these tags */
    tag?: string[];
    /** With none of these tags */
    not_tag?: string[];
    /** Words with at least two letters or digits. All must occur in the title, component, source package, version, path, rule, ids, CWEs or asset name of a finding. A word with three characters or more also matches the beginning of a longer word, except for the end of a host name such as `com`, but never its middle. Titles, components and asset names are found by each of their words and the parts between `. _ @ / : -`. A path is found by its beginning, by the name of the file and by the names of the 5 nearest folders; a rule by its id, by its last part and by the 5 parts before it, between `. / :`. URLs, descriptions and solutions are not searched. An id also finds its aliases that count. A package URL (purl) finds its component and version. Single letters are ignored */
    q?: string;
    /** Start of the range, inclusive: a date (00:00 UTC) or a date-time */
    first_seen_from?: string;
    /** End of the range, exclusive: a date (00:00 UTC) or a date-time */
    first_seen_to?: string;
    /** Start of the range, inclusive: a date (00:00 UTC) or a date-time */
    last_seen_from?: string;
    /** End of the range, exclusive: a date (00:00 UTC) or a date-time */
    last_seen_to?: string;
    /** Start of the range, inclusive: a date (00:00 UTC) or a date-time */
    created_from?: string;
    /** End of the range, exclusive: a date (00:00 UTC) or a date-time */
    created_to?: string;
    /** Start of the range, inclusive: a date (00:00 UTC) or a date-time */
    updated_from?: string;
    /** End of the range, exclusive: a date (00:00 UTC) or a date-time */
    updated_to?: string;
    /** Start of the range, inclusive: a date (00:00 UTC) or a date-time */
    due_from?: string;
    /** End of the range, exclusive: a date (00:00 UTC) or a date-time */
    due_to?: string;
  };
  /** The change to apply to each finding */
  change: {
    /** New status. Under the four-eyes policy, `risk_accepted` leaves the status and requests the approval of a second person */
    status?: FindingStatus;
    /** New severity. Survives later scans. `null` restores the severity of the sources */
    severity?: Severity | null;
    /** Reason for the change. Required for most changes, and only allowed together with one */
    reason?: string;
    /** With `risk_accepted`: who is responsible for the risk */
    owner?: string;
    /** With `risk_accepted`: end of the acceptance, at most 731 days (two years) from now */
    expires_at?: string;
    /** With `risk_accepted`: what lowers the risk while it is accepted. A new acceptance of the same finding keeps it if it is left out. `null` removes it */
    compensating_control?: string | null;
    /** Why the finding does not apply, in VEX vocabulary */
    justification?: Justification;
    /** With `risk_accepted` and `false_positive`: whether the decision covers the `places` where the finding is known now, or the whole `finding` wherever it is reported later. Default: `places` */
    scope?: 'places' | 'finding';
    /** Answers the pending requests to accept the risk. Cannot be combined with another change. `reject` requires a `reason` */
    acceptance?: 'approve' | 'reject';
    /** Tags to add */
    add_tags?: string[];
    /** Tags to remove */
    remove_tags?: string[];
    /** Work item to link the findings to */
    work_item_id?: string;
  };
  /** Report what would change without changing anything. Default: `false` */
  dry_run?: boolean;
};

/** `matched` is the sum of `changed`, `unchanged` and `refused` */
export type BulkCounts = {
  /** Findings that were selected, including unknown ids */
  matched: number;
  /** Findings that were changed */
  changed: number;
  /** Findings that already had the requested values */
  unchanged: number;
  /** Findings that the change is not allowed for, and unknown ids */
  refused: number;
};

export type BulkResult = {
  /** Whether the request only reported what would change */
  dry_run: boolean;
  counts: BulkCounts;
  /** The first 1,000 findings that were not changed, with the error that a change of each alone would return */
  refused: {
    /** ID (UUIDv7) */
    id: string;
    /** Error code, as for a change of this finding alone */
    code: string;
    /** Why the finding was not changed */
    detail: string;
  }[];
};

export type Comment = {
  /** Id of the comment (UUIDv7) */
  id: string;
  /** The text, as it was written. `null` if the comment was withdrawn */
  text: string | null;
  /** Name of the author at that time */
  author: string;
  /** The person who wrote it. `null` if a connection did */
  person: {
    /** Id of the member. If no member stands behind the credential: id of the API key, or subject of the access token */
    id: string;
    /** Name of the person */
    name: string;
  } | null;
  /** When it was written */
  created_at: string;
  /** When it was withdrawn. `null` if it was not */
  withdrawn_at: string | null;
  /** Who withdrew it */
  withdrawn_by: string | null;
};

export type CommentCreate = {
  /** The text, at most 4,000 characters. It is shown as plain text */
  text: string;
};

export type CommentList = {
  /** The items of this page */
  data: Comment[];
  page: Page;
};

export type Conclusion = 'remediated' | 'partially_remediated' | 'risk_accepted' | 'false_positive' | 'not_remediated';

export type Connection = {
  /** Id of the connection (UUIDv7) */
  id: string;
  /** Provider id from the catalog */
  provider: string;
  /** `scanner` imports findings, `enrichment` adds vulnerability data, `ticketing` keeps tickets in sync */
  kind: ConnectorKind;
  /** Display name of the connection */
  name: string;
  /** Whether the connection runs */
  enabled: boolean;
  /** Settings that match the provider's `config_schema` */
  config: Record<string, unknown>;
  /** The secrets that are set. Their values are never returned */
  credentials: Record<string, CredentialMark>;
  /** URL to enter in the vendor’s webhook settings. null if the provider receives no webhooks */
  inbound_url: string | null;
  /** null: only on request */
  schedule: {
    /** Minutes between two runs */
    every_minutes: number;
  } | null;
  /** Active run (`queued`, `running`), otherwise the result of the latest run. `never`: no run yet. `paused`: the connection is disabled */
  sync_status: SyncStatus;
  /** The latest run */
  last_run: {
    /** Id of the run (UUIDv7) */
    id: string;
    /** Id of the connection (UUIDv7) */
    connection_id: string;
    /** What started the run */
    trigger: 'manual' | 'schedule' | 'sync_all';
    /** `full`: fetches everything, and a complete run closes findings that are missing. `changes`: fetches changes since the previous run */
    mode: 'full' | 'changes';
    /** `partial` and `failed` runs close nothing. `needs_confirmation`: the run would close unusually many findings, or some that were last seen with other settings of the connection, and waits for your decision */
    status: RunStatus;
    progress: SyncProgress;
    counts: SyncCounts;
    requests: SyncRequests;
    /** Import of the collected records, with its rejected records and the stored file */
    import_id: string | null;
    /** Why the run failed or is partial */
    error: {
      /** Cause of the error. `invalid_answer`: the vendor sent an unexpected response. `service`: internal error */
      kind: 'credentials' | 'configuration' | 'rate_limited' | 'unavailable' | 'invalid_answer' | 'incomplete' | 'service';
      /** What is wrong and what to do */
      message: string;
    } | null;
    /** Remarks about the run */
    notes: string[];
    /** Date of the vulnerability data in the vendor's notation. Enrichment only */
    knowledge_as_of: string | null;
    /** Who or what requested the run */
    requested_by: string;
    /** When the run was queued */
    created_at: string;
    /** When the run started */
    started_at: string | null;
    /** When the run ended */
    finished_at: string | null;
  } | null;
  /** When the next run is due */
  next_run_at: string | null;
  /** Who created the connection */
  created_by: string;
  /** When the connection was created */
  created_at: string;
  /** When the connection was last changed */
  updated_at: string;
  /** Increases with each change. Also the ETag */
  version: number;
};

export type ConnectionHealth = {
  /** Id of the connection (UUIDv7) */
  connection_id: string;
  /** Provider id from the catalog */
  provider: string;
  /** `scanner` imports findings, `enrichment` adds vulnerability data, `ticketing` keeps tickets in sync */
  kind: ConnectorKind;
  /** Display name of the connection */
  name: string;
  /** `healthy`: the last run succeeded. `degraded`: the last run was partial or awaits confirmation. `failing`: the last run failed. `stale`: two intervals have passed without a successful run. `paused`: the connection is disabled. `never_synced`: no run has ended yet */
  status: HealthStatus;
  /** Active run (`queued`, `running`), otherwise the result of the latest run. `never`: no run yet. `paused`: the connection is disabled */
  sync_status: SyncStatus;
  /** When the last successful run ended */
  last_success_at: string | null;
  /** When the last run ended */
  last_run_at: string | null;
  /** When the next run is due */
  next_run_at: string | null;
  staleness: Staleness;
  runs: RunErrorRates;
  requests: RequestErrorRates;
  run_seconds: RunSeconds;
  /** Records received by the last successful run */
  findings_seen: number;
  /** Date of the data of the last successful run in the vendor's notation. Enrichment only */
  knowledge_as_of: string | null;
  /** Error of the latest run */
  last_error: {
    /** Cause of the error. `invalid_answer`: the vendor sent an unexpected response. `service`: internal error */
    kind: 'credentials' | 'configuration' | 'rate_limited' | 'unavailable' | 'invalid_answer' | 'incomplete' | 'service';
    /** What is wrong and what to do */
    message: string;
  } | null;
  /** Remarks about the latest run */
  notes: string[];
  /** Failed runs in a row */
  consecutive_failures: number;
  /** `open`: after five failures in a row, runs are spaced out. `half_open`: the next attempt is due or active. `closed`: normal schedule */
  circuit: 'closed' | 'open' | 'half_open';
};

export type ConnectionList = {
  /** The items of this page */
  data: Connection[];
  page: Page;
};

export type ConnectionTest = {
  /** Whether the test succeeded */
  ok: boolean;
  /** Why the test failed */
  error: {
    /** Cause of the error. `invalid_answer`: the vendor sent an unexpected response. `service`: internal error */
    kind: 'credentials' | 'configuration' | 'rate_limited' | 'unavailable' | 'invalid_answer' | 'incomplete' | 'service';
    /** What is wrong and what to do */
    message: string;
  } | null;
  /** Requests that the test sent */
  requests: TestedRequest[];
  /** Duration in seconds */
  seconds: number;
};

export type ConnectionTestRequest = {
  /** Provider id from the catalog */
  provider: string;
  /** Settings that match the provider's `config_schema` */
  config?: Record<string, unknown>;
  /** Secrets that match the provider's `credentials_schema`. Stored encrypted and never returned */
  credentials?: Record<string, unknown>;
  /** Connection whose settings are to be changed. `config` and `credentials` are then the changes, as in `PATCH /integrations/{id}`, and other fields have the stored values */
  connection_id?: string;
};

export type ConnectorKind = 'scanner' | 'enrichment' | 'ticketing';

export type ConsistencyProof = {
  /** Name of the transparency log. */
  origin: string;
  /** Size of the older tree. */
  from: number;
  /** Size of the newer tree. */
  to: number;
  /** Root hash of the older tree in hexadecimal. */
  from_root_hash: string;
  /** Root hash of the newer tree in hexadecimal. */
  to_root_hash: string;
  /** Consistency proof as defined in RFC 6962, section 2.1.2. */
  hashes: string[];
};

/** Active findings by severity */
export type CountsBySeverity = {
  /** Findings with severity `critical` */
  critical: {
    /** Active findings */
    active: number;
    /** Active findings past their deadline, without suppressed ones */
    overdue: number;
  };
  /** Findings with severity `high` */
  high: {
    /** Active findings */
    active: number;
    /** Active findings past their deadline, without suppressed ones */
    overdue: number;
  };
  /** Findings with severity `medium` */
  medium: {
    /** Active findings */
    active: number;
    /** Active findings past their deadline, without suppressed ones */
    overdue: number;
  };
  /** Findings with severity `low` */
  low: {
    /** Active findings */
    active: number;
    /** Active findings past their deadline, without suppressed ones */
    overdue: number;
  };
  /** Findings with severity `info` */
  info: {
    /** Active findings */
    active: number;
    /** Active findings past their deadline, without suppressed ones */
    overdue: number;
  };
  /** Findings with severity `unknown` */
  unknown: {
    /** Active findings */
    active: number;
    /** Active findings past their deadline, without suppressed ones */
    overdue: number;
  };
};

/** Findings by status */
export type CountsByStatus = {
  /** Findings with status `open` */
  open: number;
  /** Findings with status `in_progress` */
  in_progress: number;
  /** Findings with status `remediated` */
  remediated: number;
  /** Findings with status `verified` */
  verified: number;
  /** Findings with status `risk_accepted` */
  risk_accepted: number;
  /** Findings with status `false_positive` */
  false_positive: number;
  /** Findings with status `withdrawn` */
  withdrawn: number;
};

export type CredentialMark = {
  /** Always true. A secret that is not set is absent */
  set: boolean;
  /** When the secret was last changed */
  updated_at: string;
  /** Last characters of the secret. null if it is short */
  hint: string | null;
};

export type Decision = {
  /** ID (UUIDv7) */
  id: string;
  /** What was decided */
  kind: 'acceptance' | 'false_positive';
  /** State of the decision. `void`: the request was withdrawn or replaced, or the finding was closed before it was approved */
  state: 'requested' | 'active' | 'rejected' | 'void' | 'ended';
  /** What the decision covers: the `places` that were known when it was made, or the whole `finding` */
  scope: 'places' | 'finding';
  /** Who made or requested the decision */
  decided_by: {
    /** Id of the member. If no member stands behind the credential: id of the API key, or subject of the access token */
    id: string;
    /** Name of the person */
    name: string;
  } | null;
  /** Who approved or rejected it. null if no second person was needed */
  approved_by: {
    /** Id of the member. If no member stands behind the credential: id of the API key, or subject of the access token */
    id: string;
    /** Name of the person */
    name: string;
  } | null;
  /** Reason for the decision */
  reason: string | null;
  /** Reason of the person who approved, rejected or withdrew it */
  approval_reason: string | null;
  /** Who is responsible for the risk */
  owner: string | null;
  /** When the acceptance ends */
  expires_at: string | null;
  /** What lowers the risk while it is accepted */
  compensating_control: string | null;
  /** Why the finding does not apply, in VEX vocabulary */
  justification: Justification | null;
  /** Severity when it was decided */
  severity: Severity;
  /** Whether CISA listed the vulnerability as known to be exploited when it was decided */
  kev: boolean;
  /** When the decision was made or requested */
  requested_at: string;
  /** When it became active or was rejected */
  decided_at: string | null;
  /** When it ended or became void */
  ended_at: string | null;
  /** Why it ended: a `reason_code`, `replaced` by another decision, or `withdrawn` by whoever requested it */
  ended_reason: string | null;
};

export type DriftedTicket = {
  /** Id of the ticket link (UUIDv7) */
  id: string;
  /** Id of the work item (UUIDv7) */
  work_item_id: string;
  connection: TicketConnection;
  /** `pushing`: the ticket is being created. `linked`: in sync, except for what `problems` lists. `failed`: the last attempt failed, see `error`; it is retried automatically. `paused`: too many writes within an hour; nothing is written until you repair the ticket */
  status: 'pushing' | 'linked' | 'failed' | 'paused';
  /** The vendor's key of the ticket */
  key: string | null;
  /** Link to the ticket */
  url: string | null;
  /** State when last read. `done` moves the work item to `awaiting_verification`, never further */
  state: TicketState | null;
  /** The vendor's name of the state */
  state_name: string | null;
  /** Assignee of the ticket at the vendor */
  assignee: string | null;
  /** Why the ticket is out of sync. Empty if it is in sync */
  problems: ('differs' | 'gone' | 'paused' | 'failed' | 'unread' | 'duplicated')[];
  /** Fields in which work item and ticket differ */
  drift: TicketDrift[];
  /** Other tickets of the vendor that carry the marker of this one, for example copies. The service does not sync them. A repair clears the list */
  duplicates: TicketDuplicate[];
  /** Why the ticket is paused */
  paused_reason: string | null;
  /** Error of the last attempt or poll */
  error: {
    /** Cause of the error, as in `RunError` */
    kind: string;
    /** What is wrong and what to do */
    message: string;
  } | null;
  /** When a failed ticket is retried */
  retry_at: string | null;
  /** Direction of a repair that is requested and not finished */
  repairing: 'push' | 'pull' | null;
  /** When the ticket was last read */
  read_at: string | null;
  /** When the ticket was last written */
  written_at: string | null;
  /** Who pushed the work item */
  created_by: string;
  /** When the work item was pushed */
  created_at: string;
  /** When the link last changed */
  updated_at: string;
  work_item: DriftedWorkItem;
};

export type DriftedTicketList = {
  /** The items of this page */
  data: DriftedTicket[];
  page: Page;
};

/** The work item */
export type DriftedWorkItem = {
  /** Title of the work item */
  title: string;
  /** Id of the work item (UUIDv7) */
  id: string;
  /** Status of the work item */
  status: WorkItemStatus;
};

export type EndedTracks = {
  /** The asset, in any spelling of its name */
  asset: {
    /** Type of the asset */
    type: AssetType;
    /** Text with at least one visible character */
    name: string;
  };
  /** Pull requests and branches that have been merged or closed, as the pipeline names them */
  tracks: string[];
};

export type EndedTracksResult = {
  /** What has ended */
  ended: string[];
  /** Names of which the asset has no open pull request or branch whose findings do not count */
  not_ended: string[];
};

/** Failures within a period */
export type ErrorRate = {
  /** Total number */
  total: number;
  /** Number that failed */
  failed: number;
  /** `failed` divided by `total`, from 0 to 1 */
  error_rate: number;
};

export type EventPattern =
  | '*'
  | 'alias.*'
  | 'api_key.*'
  | 'artifact.*'
  | 'asset.*'
  | 'connection.*'
  | 'finding.*'
  | 'import.*'
  | 'member.*'
  | 'organization.*'
  | 'package.*'
  | 'pipeline_trust.*'
  | 'session.*'
  | 'source.*'
  | 'sync.*'
  | 'ticket.*'
  | 'view.*'
  | 'webhook.*'
  | 'work_item.*'
  | 'alias.added'
  | 'alias.revoked'
  | 'alias.restored'
  | 'api_key.created'
  | 'api_key.updated'
  | 'api_key.revoked'
  | 'artifact.added'
  | 'artifact.superseded'
  | 'artifact.removed'
  | 'artifact.downloaded'
  | 'asset.created'
  | 'asset.updated'
  | 'asset.reactivated'
  | 'asset.track_renamed'
  | 'asset.track_ended'
  | 'asset.track_merged'
  | 'asset.track_unmerged'
  | 'asset.merged'
  | 'asset.unmerged'
  | 'connection.created'
  | 'connection.updated'
  | 'connection.deleted'
  | 'finding.created'
  | 'finding.status_changed'
  | 'finding.severity_changed'
  | 'finding.updated'
  | 'finding.acceptance_requested'
  | 'finding.acceptance_approved'
  | 'finding.acceptance_rejected'
  | 'finding.merged'
  | 'finding.split'
  | 'finding.commented'
  | 'finding.comment_withdrawn'
  | 'import.created'
  | 'import.succeeded'
  | 'import.needs_confirmation'
  | 'import.confirmed'
  | 'import.discarded'
  | 'import.failed'
  | 'import.file_deleted'
  | 'member.added'
  | 'member.invited'
  | 'member.updated'
  | 'member.removed'
  | 'member.subject_unlinked'
  | 'organization.created'
  | 'organization.updated'
  | 'package.requested'
  | 'package.ready'
  | 'package.failed'
  | 'package.superseded'
  | 'package.viewed'
  | 'package.downloaded'
  | 'package.verified'
  | 'package.shared'
  | 'package.share_revoked'
  | 'pipeline_trust.created'
  | 'pipeline_trust.updated'
  | 'pipeline_trust.deleted'
  | 'session.created'
  | 'session.ended'
  | 'source.retired'
  | 'source.reactivated'
  | 'sync.started'
  | 'sync.succeeded'
  | 'sync.partial'
  | 'sync.failed'
  | 'sync.cancelled'
  | 'sync.needs_confirmation'
  | 'sync.confirmed'
  | 'sync.discarded'
  | 'ticket.pushed'
  | 'ticket.linked'
  | 'ticket.updated'
  | 'ticket.drifted'
  | 'ticket.paused'
  | 'ticket.failed'
  | 'ticket.gone'
  | 'ticket.unlinked'
  | 'view.created'
  | 'view.updated'
  | 'view.deleted'
  | 'webhook.created'
  | 'webhook.updated'
  | 'webhook.secret_rotated'
  | 'webhook.disabled'
  | 'webhook.deleted'
  | 'work_item.created'
  | 'work_item.updated'
  | 'work_item.status_changed'
  | 'work_item.findings_linked'
  | 'work_item.finding_unlinked'
  | 'work_item.approved'
  | 'work_item.rejected'
  | 'work_item.commented'
  | 'work_item.comment_withdrawn';

/** Evidence coverage of closed work items. */
export type EvidenceCoverage = {
  /** Number of work items that are verified or closed with exceptions. */
  closed: number;
  /** Number of closed work items with a package that is not superseded. */
  with_ready_package: number;
  /** Number of closed work items without such a package. */
  without: number;
  /** Share of closed work items with such a package, from 0 to 1. Null if no work item is closed. */
  coverage: number | null;
};

export type EvidenceDownload = {
  /** Format. `zip` is the complete package. */
  format: 'zip' | 'pdf' | 'html' | 'json' | 'jsonl' | 'csv' | 'oscal-ar' | 'oscal-poam' | 'openvex' | 'cyclonedx-vex' | 'sarif';
  /** URL of the download, relative to the server. */
  url: string;
  /** Size in bytes. */
  size: number;
  /** SHA-256 in hexadecimal. */
  sha256: string;
  /** Media type. */
  media_type: string;
  /** When the URL stops working. Null if it does not expire. */
  expires_at: string | null;
};

export type EvidenceFailure = {
  /** Kind of failure. */
  code:
    | 'archive'
    | 'truncated'
    | 'compressed'
    | 'trailing_bytes'
    | 'entry_mismatch'
    | 'layout'
    | 'name'
    | 'duplicate'
    | 'too_large'
    | 'deadline'
    | 'bag'
    | 'manifest'
    | 'payload_changed'
    | 'payload_missing'
    | 'payload_extra'
    | 'tag_changed'
    | 'tag_missing'
    | 'tag_extra'
    | 'proof_missing'
    | 'proof_extra'
    | 'key_copy'
    | 'statement_copy'
    | 'statement'
    | 'subject'
    | 'predicate'
    | 'bundle'
    | 'signature'
    | 'key_id'
    | 'untrusted_key'
    | 'succession'
    | 'key_period'
    | 'organization'
    | 'origin'
    | 'leaf'
    | 'leaf_mismatch'
    | 'inclusion'
    | 'promise'
    | 'checkpoint'
    | 'checkpoint_signature'
    | 'log_disagrees'
    | 'tlog_proof'
    | 'untrusted_log_key'
    | 'cosignature'
    | 'epoch'
    | 'consistency'
    | 'fork'
    | 'status'
    | 'timestamp'
    | 'timestamp_copy'
    | 'time_mismatch'
    | 'untrusted_timestamp'
    | 'audit_trail'
    | 'history_rewritten'
    | 'log_facts'
    | 'schema'
    | 'folder'
    | 'file_reference'
    | 'reference'
    | 'contradiction'
    | 'time_order'
    | 'policy_order'
    | 'collection'
    | 'earlier'
    | 'scan_unfit'
    | 'same_scan'
    | 'conclusion'
    | 'grade'
    | 'gap_missing'
    | 'gap_false'
    | 'counts'
    | 'check'
    | 'selection'
    | 'decision'
    | 'control'
    | 'standing'
    | 'provenance'
    | 'due'
    | 'unproven'
    | 'recorded_otherwise'
    | 'omitted'
    | 'state_false'
    | 'approval_state'
    | 'rendering';
  /** Affected file in the package. Empty if the failure concerns the whole package. */
  file: string;
  /** What is wrong. */
  detail: string;
  /** Expected value, if there is one. */
  expected: string | null;
  /** Value that was found instead, if there is one. */
  actual: string | null;
};

export type EvidenceFile = {
  /** Path in the package. */
  path: string;
  /** Size in bytes. */
  size: number;
  /** SHA-256 in hexadecimal. */
  sha256: string;
  /** Media type. */
  media_type: string;
};

export type EvidenceGap = {
  /** Kind of gap. */
  code: GapCode;
  /** A major gap lowers the grade to C or D, a minor one to B. A note has no effect. */
  weight: GapWeight;
  /** What is missing, in one sentence. */
  what: string;
  /** Ids of the affected findings, scans, artifacts, assets or approvals. Empty if the gap concerns the whole package. */
  about: string[];
};

/** Time from the request to the finished package. */
export type EvidenceGenerationTime = {
  /** Median in milliseconds. Null without packages. */
  median: number | null;
  /** 95th percentile in milliseconds. Null without packages. */
  p95: number | null;
};

export type EvidenceKey = {
  /** OpenSSH fingerprint (package keys) or SHA-256 of the SubjectPublicKeyInfo in hexadecimal (log and note keys). */
  key_id: string;
  /** `package` keys sign packages. `log` keys sign entries and Rekor checkpoints of the transparency log. `note` keys sign its C2SP checkpoints. */
  use: 'package' | 'log' | 'note';
  /** Signature algorithm. */
  algorithm: 'ES256' | 'Ed25519';
  /** Public key in PEM (SubjectPublicKeyInfo). */
  public_key_pem: string;
  /** The same key as a JSON Web Key. */
  jwk: {
    /** Key type. */
    kty: string;
    /** Curve. */
    crv: string;
    /** X coordinate, or the public key for Ed25519, in base64url. */
    x: string;
    /** JWK thumbprint of the key (RFC 7638). */
    kid: string;
  };
  /** When the key was registered. */
  valid_from: string;
  /** When the key was replaced. Null while it is in use. */
  valid_to: string | null;
  /** When the key was revoked. Null unless it was. */
  revoked_at: string | null;
  /** Why the key was revoked. Null unless it was. */
  revoked_reason: string | null;
};

export type EvidenceKeys = {
  /** Version of this list. */
  version: 2;
  /** Hosts of the transparency logs that the keys sign for. A log is named `<host>/orgs/<organization id>`. */
  origins: string[];
  /** Every key that was ever used. Keys in use come first. */
  keys: EvidenceKey[];
};

/** Where to find the public keys. */
export type EvidenceKeysHint = {
  /** URL of the public keys, relative to the server. */
  url: string;
  /** How to check the keys. */
  hint: string;
};

export type EvidenceLayer = {
  /** Layer of the package. */
  name: 'container' | 'content' | 'evidence' | 'rendering' | 'audit_trail' | 'signature' | 'log' | 'history' | 'time';
  /** `not_present`: the package has no such layer. `not_checked`: the layer could not be checked. */
  result: 'pass' | 'fail' | 'not_present' | 'not_checked';
  /** Explanation of the result. */
  detail: string;
};

export type EvidencePackage = {
  /** Id of the evidence package. */
  package_id: string;
  /** Id of the work item. */
  work_item_id: string;
  /** Title of the work item when the package was requested. */
  work_item_title: string;
  /** Number of the package within the work item, from 1. */
  sequence: number;
  /** `superseded`: a later package replaced it, or a finding that it reports as closed was reopened. */
  status: PackageStatus;
  /** Why generation failed. Null unless the status is `failed`. */
  error: string | null;
  /** Conclusion, computed from the states of the findings. Null until the package is ready. */
  conclusion: Conclusion | null;
  /** How complete the evidence is. Null until the package is ready. */
  completeness: {
    /** A: no gaps. B: minor gaps only. C: one kind of major gap. D: several kinds. */
    grade: Grade;
    /** What the package lacks. */
    gaps: EvidenceGap[];
  } | null;
  /** What the package contains. Null until it is ready. */
  counts: {
    /** Number of findings. */
    findings: number;
    /** Number of artifacts. */
    artifacts: number;
    /** Number of scans. */
    scans: number;
  } | null;
  /** Hashes that identify the package. Null until it is ready. */
  hashes: {
    /** SHA-256 of the ZIP file in hexadecimal. */
    archive_sha256: string;
    /** SHA-256 of `manifest-sha256.txt` in hexadecimal. */
    manifest_sha256: string;
    /** SHA-256 of `tagmanifest-sha256.txt` in hexadecimal. */
    tagmanifest_sha256: string;
    /** Leaf hash of the entry in the transparency log in hexadecimal. */
    log_leaf_sha256: string;
  } | null;
  /** Key that signed the package. `GET /riskops-evidence/keys` lists the keys. Null until the package is ready. */
  signature: {
    /** Id of the signing key. */
    key_id: string;
    /** Signature algorithm. */
    algorithm: string;
  } | null;
  /** Entry in your organization's transparency log. Null until the package is ready. */
  log: {
    /** Index of the entry, from 0. */
    index: number;
    /** Number of entries after the entry was appended. */
    tree_size: number;
    /** Root hash of that tree in hexadecimal. */
    root_hash: string;
  } | null;
  /** RFC 3161 timestamps in the ZIP file. Empty if no time-stamping authority is configured or none answered. */
  timestamps: {
    /** Path in the ZIP file. */
    file: string;
  }[];
  /** Witnesses of the transparency log. Empty if none is configured. */
  witnesses: EvidenceWitness[];
  /** Every file under `data/`. */
  files: EvidenceFile[];
  /** Available downloads. Empty until the package is ready. */
  downloads: EvidenceDownload[];
  /** Note given with the request. */
  note: string | null;
  generated_by: EvidencePerson;
  /** When the package was requested. */
  requested_at: string;
  /** Time of the snapshot that the package describes. Null until the package is ready. */
  as_of: string | null;
  /** When the package was generated. Null until the package is ready. */
  generated_at: string | null;
  /** Why the package is no longer current. It still verifies for its date. Null unless superseded. */
  superseded: {
    /** When the package was superseded. */
    at: string;
    /** Id of the package that replaced it, if there is one. */
    by: string | null;
    /** Why it was superseded. */
    reason: string;
  } | null;
  /** Id of the package that replaced it, if there is one. */
  superseded_by: string | null;
};

export type EvidencePackageList = {
  /** The items of this page */
  data: ListedEvidencePackage[];
  page: Page;
};

/** The member, API key, OIDC user or system component that performed the action. */
export type EvidencePerson = {
  /** Kind of credential. `system` is the service itself. */
  type: 'api_key' | 'member' | 'oidc' | 'system';
  /** Id of the API key or member, or the subject of the OIDC token. Null for the service itself. */
  id: string | null;
  /** Display name at the time of the action. */
  name: string;
};

export type EvidencePreview = {
  /** Id of the work item. */
  work_item_id: string;
  /** Time that the preview describes. */
  as_of: string;
  /** Conclusion that a package sealed now would have. */
  conclusion: Conclusion;
  completeness: EvidencePreviewCompleteness;
  counts: EvidencePreviewCounts;
};

/** How complete the evidence is. */
export type EvidencePreviewCompleteness = {
  /** A: no gaps. B: minor gaps only. C: one kind of major gap. D: several kinds. */
  grade: Grade;
  /** What the package lacks. */
  gaps: EvidenceGap[];
};

/** What the package would contain. */
export type EvidencePreviewCounts = {
  /** Number of findings. */
  findings: number;
  /** Number of artifacts. */
  artifacts: number;
  /** Number of scans. */
  scans: number;
};

export type EvidenceStats = {
  /** Number of packages. */
  total: number;
  by_status: PackagesByStatus;
  by_grade: PackagesByGrade;
  /** Total size of the ZIP files in bytes. */
  bytes: number;
  /** Packages generated in the last 12 months, oldest month first. */
  per_month: {
    /** Calendar month in UTC. */
    month: string;
    /** Number of packages generated in the month. */
    packages: number;
    /** Total size of the ZIP files in bytes. */
    bytes: number;
  }[];
  work_items: EvidenceCoverage;
  generation_ms: EvidenceGenerationTime;
  verifications: EvidenceVerifications;
  /** Number of downloads, including partial downloads and downloads with share links. */
  downloads: number;
  /** The most recently generated package. Null if there is none. */
  last_package: {
    /** Id of the evidence package. */
    package_id: string;
    /** Id of the work item. */
    work_item_id: string;
    /** When the package was generated. */
    generated_at: string;
    /** Conclusion of the package. */
    conclusion: Conclusion;
    /** Completeness grade of the package. */
    grade: Grade;
  } | null;
};

export type EvidenceStatusSignature = {
  /** Id of the package key that signed the statement. */
  keyid: string;
  /** Base64 of the ECDSA signature in DER over the DSSE pre-authentication encoding. */
  sig: string;
};

export type EvidenceStatusStatement = {
  /** Base64 of an in-toto statement with the predicate type `https://rrs.example/package-status/v1`. Its predicate has `status` (`ready` or `superseded`), `by`, `reason`, `since`, `as_of` and the latest checkpoint of the log. */
  payload: string;
  /** Type of the payload. */
  payloadType: string;
  /** One signature. */
  signatures: EvidenceStatusSignature[];
};

export type EvidenceVerification = {
  /** Whose package it is. Null if its content was not read. Check that it is the organization you expect: organizations share the keys. */
  owner: {
    /** Id of the organization that the package belongs to. */
    organization_id: string;
    /** Name of the organization as the package states it. */
    organization_name: string;
    /** Transparency log of the package. */
    origin: string;
  } | null;
  /** `verified`: every check passed and the package was signed with keys of this service. `consistent`: no check failed, but at least one layer could not be checked. `failed`: at least one check failed. */
  verdict: 'verified' | 'consistent' | 'failed';
  /** Failed checks. Empty unless the verdict is `failed`. */
  failures: EvidenceFailure[];
  /** Result for each layer. */
  layers: EvidenceLayer[];
  /** Remarks that do not affect the verdict. */
  notes: string[];
  /** What the verdict does not cover. `originals_true`: The scanners and other systems reported the truth, and the original files are theirs. `who_is_who`: The accounts belong to the people whose names they show. `trail_complete`: The audit trail contains every event: the service left none out. `policy_history_complete`: The package shows every change of the policy. `other_open_counts`: The counts of other open findings are right. `pipeline_claims`: The claims about pipelines that uploaded scans are right. `connection_normalized`: Scans that a connection fetched were converted correctly. `pdf_pixels`: report.pdf shows the same as evidence.json. Only its hash was checked. `no_stamp`: The package was made at the time that it states. No authority that you trust confirms it. `no_checkpoint_or_witness`: The service shows everybody the same log. You compared no checkpoint that you saved earlier, and no witness that you trust confirmed it. `tenants_share_keys`: The service keeps its organizations apart: they share its keys. */
  taken_on_trust: (
    | 'originals_true'
    | 'who_is_who'
    | 'trail_complete'
    | 'policy_history_complete'
    | 'other_open_counts'
    | 'pipeline_claims'
    | 'connection_normalized'
    | 'pdf_pixels'
    | 'no_stamp'
    | 'no_checkpoint_or_witness'
    | 'tenants_share_keys'
  )[];
  /** Id that the package states. Null if it could not be read. */
  package_id: string | null;
  /** Why the package is no longer current, although it may verify. Null if it is current or unknown here. */
  superseded: string | null;
};

/** Verifications of your packages by this service. */
export type EvidenceVerifications = {
  /** Number of verifications. */
  total: number;
  /** Number of verifications with a verdict other than `verified`. */
  failed: number;
};

export type EvidenceWitness = {
  /** Name of the witness. */
  name: string;
  /** When the witness confirmed the checkpoint of the package. Null if it did not answer in time. */
  cosigned_at: string | null;
};

export type ExploitMaturity = 'unreported' | 'proof_of_concept' | 'functional' | 'attacked';

export type Exposure = 'internet' | 'internal' | 'unknown';

export type FacetValue = {
  /** Value of the filter */
  value: string;
  /** Findings that match */
  count: number;
  /** `exact`: `count` is their number. `at_least`: counting stopped at 10,000 */
  relation: 'exact' | 'at_least';
};

/** Findings by the values of filters */
export type FacetValues = {
  /** Findings for each value of the filter `severity`. Absent if not requested */
  severity?: FacetValue[];
  /** Findings for each value of the filter `status`. Absent if not requested */
  status?: FacetValue[];
  /** Findings for each value of the filter `source`. Absent if not requested */
  source?: FacetValue[];
  /** Findings for each value of the filter `source_kind`. Absent if not requested */
  source_kind?: FacetValue[];
  /** Findings for each value of the filter `asset_type`. Absent if not requested */
  asset_type?: FacetValue[];
  /** Findings for each value of the filter `assurance`. Absent if not requested */
  assurance?: FacetValue[];
  /** Findings for each value of the filter `criticality`. Absent if not requested */
  criticality?: FacetValue[];
  /** Findings for each value of the filter `exposure`. Absent if not requested */
  exposure?: FacetValue[];
  /** Findings for each value of the filter `kev`. Absent if not requested */
  kev?: FacetValue[];
  /** Findings for each value of the filter `has_fix`. Absent if not requested */
  has_fix?: FacetValue[];
  /** Findings for each value of the filter `overdue`. Absent if not requested */
  overdue?: FacetValue[];
  /** Findings for each value of the filter `has_work_item`. Absent if not requested */
  has_work_item?: FacetValue[];
};

export type Finding = {
  /** Short description of the weakness */
  title: string;
  /** ID (UUIDv7) */
  id: string;
  /** Status of the finding */
  status: FindingStatus;
  /** How well the closure is proven */
  assurance: Assurance | null;
  /** Severity from the source, unless a person overrode it */
  severity: Severity;
  /** Whether a person set the severity */
  severity_overridden: boolean;
  /** Whether the sources that still see the finding differ by two steps of severity or more */
  severity_disputed: boolean;
  /** CVE ids */
  cves: string[];
  /** CVE and other public ids */
  vulnerability_ids: string[];
  /** CWE numbers */
  cwes: number[];
  /** CVSS rating of the most recent CVSS version that is known */
  cvss: {
    /** CVSS version */
    version: string | null;
    /** CVSS vector. `null` if the sources state only a score */
    vector: string | null;
    /** Base score from 0 to 10, computed from the vector if there is one */
    score: number;
  } | null;
  /** EPSS score from FIRST */
  epss: {
    /** Probability of exploitation in the next 30 days, from 0 to 1 */
    score: number;
    /** Share of all vulnerabilities with a lower or equal score, from 0 to 1 */
    percentile: number | null;
    /** Date of the score */
    date: string | null;
  } | null;
  /** CISA's catalog of known exploited vulnerabilities */
  kev: {
    /** Whether the vulnerability is known to be exploited: it is in CISA's catalog, or CISA's SSVC decision or a report says so */
    listed: boolean;
    /** Date by which CISA requires agencies to remediate */
    due_date: string | null;
  };
  /** How far exploits have developed, according to the sources */
  exploit_maturity: ExploitMaturity | null;
  /** Whether the component itself is malicious */
  malicious: boolean;
  /** Whether there is a fix, according to the sources */
  fix_state: FixState | null;
  /** The earliest day on which a fix was published, according to the sources */
  fix_published_date: string | null;
  /** The tool's id of the check */
  rule: string | null;
  /** Risk from 0 to 100, from severity, exploitation, and the asset */
  risk_score: number;
  asset: AssetRef;
  location: Location;
  /** In how many places of the asset sources still see the finding */
  place_count: number;
  /** Sources that report the finding */
  sources: Source[];
  /** When a source first saw the finding */
  first_seen: string;
  /** When a scan last saw the finding. Refreshed at most once a day */
  last_seen: string;
  /** Deadline from the SLA policy */
  due_at: string | null;
  /** Whether an active finding that is not suppressed has passed its deadline */
  overdue: boolean;
  /** Whether all sources that still see the finding suppress it */
  suppressed: boolean;
  /** How often a scan reopened the finding */
  reopen_count: number;
  /** Tags from sources and people */
  tags: string[];
  /** Reason for the last change of status, in words */
  status_reason: string | null;
  /** Why the status last changed: `by_person` A person changed the status. `by_connection` A connection changed the status. `scan_absent` A complete scan no longer reports the finding. `scan_seen_again` A scan reports the finding again. `scan_unable` The scan that no longer showed the finding was not able to show it. `source_fixed` The source states that the finding is fixed. `source_retracted` The source no longer reports the finding, although what it scanned has not changed. `source_retired` The source that reported the finding was retired. `check_retired` The tool no longer has the check that reported the finding. `new_occurrence` The finding was reported at a location that the decision does not cover. `regression` The finding came back where scans had shown that it was gone. `risk_increased` The severity rose, or the vulnerability was listed as exploited, after the risk was accepted. `acceptance_approved` A second person approved the acceptance of the risk. `acceptance_expired` The risk acceptance expired. `acceptance_fixed` Scans no longer report the finding, so the acceptance of its risk is no longer needed. `acceptance_resumed` The finding is back while its risk is still accepted. `decision_resumed` The finding is only reported at locations that the decision covers. `asset_retired` The asset was retired. `asset_gone` The source no longer lists the asset. `asset_listed` The source lists the asset again. `track_ended` The branch or environment that had the finding ended. `track_unmerged` The scan that no longer showed the finding covered another branch or environment. `asset_unmerged` The scan that had changed the status covered another asset. `merged` The finding was merged into another one. `split` The finding was separated from another one. */
  reason_code: ReasonCode | null;
  /** When the status last changed */
  status_changed_at: string;
  /** Acceptance of the risk: the active one, else the one that waits for approval */
  acceptance: {
    /** `requested` until a second person approves it, under the four-eyes policy */
    state: 'requested' | 'active';
    /** Who is responsible for the risk */
    owner: string;
    /** When the acceptance ends */
    expires_at: string;
    /** Why the risk is accepted */
    reason: string | null;
    /** What lowers the risk while it is accepted */
    compensating_control: string | null;
    /** Who accepted the risk, or requested it */
    requested_by: {
      /** Id of the member. If no member stands behind the credential: id of the API key, or subject of the access token */
      id: string;
      /** Name of the person */
      name: string;
    } | null;
    /** When it was accepted or requested */
    requested_at: string | null;
    /** The second person who approved it. null without the four-eyes policy */
    approved_by: {
      /** Id of the member. If no member stands behind the credential: id of the API key, or subject of the access token */
      id: string;
      /** Name of the person */
      name: string;
    } | null;
    /** When it was approved */
    approved_at: string | null;
  } | null;
  /** To how many work items the finding is linked */
  work_item_count: number;
  /** All work items that the finding is linked to, the last one first */
  work_items: WorkItemRef[];
  /** Version of the object, also its ETag */
  version: number;
  /** When the finding was created */
  created_at: string;
  /** When the finding last changed. New EPSS scores do not count */
  updated_at: string;
  /** Identifier of the weakness: a vulnerability id, or the rule of the tool */
  weakness: string;
  /** Whether the finding is more severe than when it was decided on, or was listed as exploited since. Such a false positive stays one */
  decision_outdated: boolean;
  /** The finding that this one was merged into. It is no longer listed and does not change */
  merged_into: string | null;
  /** Why the finding does not apply, in VEX vocabulary */
  justification: Justification | null;
  /** Description from the source */
  description: string | null;
  /** How to remediate, from the source */
  solution: string | null;
  /** Links to more information */
  references: string[];
  /** Severity that a person set. It survives later scans */
  severity_override: {
    /** Severity that the person set */
    severity: Severity;
    /** Severity according to the sources */
    source_severity: Severity;
    /** Who set it */
    by: string;
    /** Why */
    reason: string;
  } | null;
  risk: Risk;
  /** What each source says about the finding, on each track of the asset */
  sightings: Sighting[];
  /** Why an active finding is not closed: an entry for each source and track that still has it, or whose scan does not prove the fix */
  still_open_because: StillOpenReason[];
  /** The builds of the asset on which sources last saw the finding */
  versions: SeenBuild[];
  /** How many occurrences there are, by place, source and track */
  occurrence_count: number;
  /** The first 100 occurrences. `GET /findings/{id}/occurrences` lists all */
  occurrences: Occurrence[];
  /** Acceptances of the risk and false positives, the current ones first. At most 20 */
  decisions: Decision[];
  /** The statuses that people can change the finding to, in a fixed order */
  transitions: FindingTransition[];
};

/** A finding to create. Set either `asset` or `asset_id` */
export type FindingCreate = {
  /** Short description of the weakness, with at least one visible character */
  title: string;
  /** Severity of the finding */
  severity: Severity;
  /** The asset by type and name. Created if it does not exist */
  asset?: {
    /** Type of the asset */
    type: AssetType;
    /** Text with at least one visible character */
    name: string;
  };
  /** The asset by its id */
  asset_id?: string;
  /** Description of the weakness */
  description?: string;
  /** How to remediate */
  solution?: string;
  /** CVE ids */
  cves?: string[];
  /** CWE numbers */
  cwes?: number[];
  /** CVSS rating */
  cvss?: {
    /** Complete CVSS 2.0, 3.0, 3.1 or 4.0 vector */
    vector: string;
  };
  /** Where on the asset the finding is */
  location?: {
    /** Package or product */
    component?: string;
    /** Installed version of the component */
    version?: string;
    /** First version without the weakness. Several versions are separated by ", " */
    fixed_version?: string;
    /** Package URL of the component */
    purl?: string;
    /** File, with "/" as separator */
    path?: string;
    /** Protocol on the port */
    protocol?: string;
    /** URL of the page or endpoint */
    url?: string;
    /** HTTP method */
    method?: string;
    /** Request parameter */
    parameter?: string;
    /** Resource in code or cloud, for example `aws_s3_bucket.logs` or an ARN */
    resource?: string;
    /** First line in the file */
    line?: number;
    /** Last line in the file */
    end_line?: number;
    /** Network port */
    port?: number;
  };
  /** Links to more information */
  references?: string[];
  /** Tags */
  tags?: string[];
  /** When the weakness was first seen. Not in the future. Default: now */
  first_seen?: string;
  /** Work item to link the finding to */
  work_item_id?: string;
};

export type FindingFacets = {
  /** Findings that match all filters */
  total: {
    /** Findings that match */
    count: number;
    /** `exact`: `count` is their number. `at_least`: counting stopped at 10,000 */
    relation: 'exact' | 'at_least';
  };
  data: FacetValues;
};

export type FindingGroup = {
  /** What the findings have in common: the id of the asset, or the name of the component, vulnerability or CWE */
  key: string;
  /** The key for people: the name of the asset, or the title of the finding with the highest risk */
  label: string;
  /** Findings in the group */
  count: number;
  /** Those that are open, in progress, or remediated and not yet verified */
  active: number;
  /** Findings by severity */
  by_severity: {
    /** Severity `critical` */
    critical: number;
    /** Severity `high` */
    high: number;
    /** Severity `medium` */
    medium: number;
    /** Severity `low` */
    low: number;
    /** Severity `info` */
    info: number;
    /** Severity `unknown` */
    unknown: number;
  };
  /** Highest risk score */
  max_risk: number;
  /** Number of assets */
  assets: number;
  /** The filter that lists the findings, to be added to those of the request */
  filter: Record<string, unknown>;
};

export type FindingGroupList = {
  /** The items of this page */
  data: FindingGroup[];
  page: Page;
};

export type FindingHistoryEntry = {
  /** ID (UUIDv7) */
  id: string;
  /** When the change happened */
  occurred_at: string;
  /** Who made the change */
  actor: {
    /** Kind of credential */
    type: string;
    /** Id of the credential */
    id: string | null;
    /** Name of the credential */
    name: string;
  };
  /** The person behind the actor. null for scans, connections and the service itself */
  person: {
    /** Id of the member. If no member stands behind the credential: id of the API key, or subject of the access token */
    id: string;
    /** Name of the person */
    name: string;
  } | null;
  /** The import that made the change */
  import_id: string | null;
  /** What changed */
  action: string;
  /** Changed fields before the change */
  before: Record<string, unknown>;
  /** Changed fields after the change */
  after: Record<string, unknown>;
  /** Reason for the change */
  reason: string | null;
};

export type FindingHistoryList = {
  /** The items of this page */
  data: FindingHistoryEntry[];
  page: Page;
};

export type FindingIdentity = {
  /** ID (UUIDv7) */
  id: string;
  /** The finding that this one was merged into */
  merged_into: string | null;
  /** Identifier of the weakness: a vulnerability id, or the rule of the tool */
  weakness: string;
  /** Other ids of the weakness, learned from reports. Records that name one of them belong to the finding. At most 200 */
  aliases: string[];
  /** Ecosystem and name by which the component is recognized */
  component_key: string | null;
  /** The asset that the finding is on */
  asset: {
    /** ID (UUIDv7) */
    id: string;
    /** Type of the asset */
    type: AssetType;
    /** Name of the asset */
    name: string;
    /** The names by which the asset is recognized */
    identifiers: {
      /** `name`, or the kind of identifier: `fqdn`, `ip`, `mac`, `arn` and others */
      kind: string;
      /** The identifier in its normal form */
      value: string;
    }[];
  };
  /** Ids by which tools recognize the finding. Records of the source with the id belong to the finding, even if it moved within the asset */
  tool_ids: {
    source: Source;
    /** The track that the source reports it on */
    track: string;
    /** The source's own id of the finding */
    external_id: string;
  }[];
  /** Merges that the finding took part in, also those that were undone. At most 200 */
  rules: IdentityRule[];
};

export type FindingList = {
  /** The items of this page */
  data: ListedFinding[];
  page: Page;
};

export type FindingMerge = {
  /** The finding that is the same */
  into: string;
  /** Why the two are the same */
  reason: string;
};

export type FindingPatch = {
  /** New status. Under the four-eyes policy, `risk_accepted` leaves the status and requests the approval of a second person */
  status?: FindingStatus;
  /** New severity. Survives later scans. `null` restores the severity of the sources */
  severity?: Severity | null;
  /** Reason for the change. Required for most changes, and only allowed together with one */
  reason?: string;
  /** With `risk_accepted`: who is responsible for the risk */
  owner?: string;
  /** With `risk_accepted`: end of the acceptance, at most 731 days (two years) from now */
  expires_at?: string;
  /** With `risk_accepted`: what lowers the risk while it is accepted. A new acceptance of the same finding keeps it if it is left out. `null` removes it */
  compensating_control?: string | null;
  /** Why the finding does not apply, in VEX vocabulary */
  justification?: Justification;
  /** With `risk_accepted` and `false_positive`: whether the decision covers the `places` where the finding is known now, or the whole `finding` wherever it is reported later. Default: `places` */
  scope?: 'places' | 'finding';
  /** All tags of the finding. Replaces the current ones */
  tags?: string[];
};

export type FindingSplit = {
  /** Why the two are different */
  reason: string;
};

export type FindingStats = {
  /** All findings */
  total: number;
  /** Findings that are open, in progress, or remediated and not yet verified */
  active: number;
  /** Active findings past their deadline, without suppressed ones */
  overdue: number;
  /** Active findings that all sources suppress that still see them */
  suppressed: number;
  by_status: CountsByStatus;
  by_severity: CountsBySeverity;
  /** Active findings by the number of days since they were first seen */
  by_age: {
    /** Minimum age in days */
    from_days: number;
    /** Age in days that is no longer included. `null`: no maximum */
    to_days: number | null;
    /** Active findings of this age */
    count: number;
  }[];
  /** Findings by source, at most 1,000 sources. A finding counts once for each of its sources */
  by_source: {
    /** ID (UUIDv7) */
    id: string;
    /** Uploaded reports, a connection, or a person */
    kind: 'import' | 'connection' | 'manual';
    /** Report format or provider of the connection. `manual` for people */
    provider: string;
    /** Name of the scan. The id of the connection if `kind` is `connection` */
    name: string;
    /** Findings that the source has reported, in any status */
    count: number;
  }[];
  /** The intervals of the last `days` days, oldest first. The first and the last may be longer than these days */
  trend: FindingTrend[];
  mean_days_to_remediate: MeanDaysToRemediate;
};

export type FindingStatus = 'open' | 'in_progress' | 'remediated' | 'verified' | 'risk_accepted' | 'false_positive' | 'withdrawn';

export type FindingTop = {
  /** The groups with the most active findings, the largest first */
  data: FindingTopEntry[];
};

export type FindingTopEntry = {
  /** What the findings have in common: the id of the asset, or the name of the component, vulnerability or CWE */
  key: string;
  /** The key for people: the name of the asset, or the title of the finding with the highest risk */
  label: string;
  /** Active findings */
  active: number;
  /** Active findings with the severity `critical` */
  critical: number;
  /** Highest risk score */
  max_risk: number;
  /** Number of assets */
  assets: number;
  /** The filter that lists the findings, to be added to those of the request */
  filter: Record<string, unknown>;
};

export type FindingTransition = {
  /** The new status */
  to: FindingStatus;
  /** Fields that `PATCH /findings/{id}` requires with this status */
  needs: ('reason' | 'owner' | 'expires_at' | 'justification')[];
  /** Whether the four-eyes policy applies: the change requests an approval, and the status stays until another person approves */
  requests_approval: boolean;
  /** Why you cannot make this change. `null` if you can */
  refused: string | null;
};

export type FindingTrend = {
  /** First day of the interval, in UTC. Weeks begin on Monday */
  from: string;
  /** First day after the interval */
  to: string;
  /** Findings that were created in the interval */
  opened: number;
  /** Findings that were closed in the interval and are still closed */
  closed: number;
  /** Findings that were created in the interval, by their severity now */
  opened_by_severity: {
    /** Severity `critical` */
    critical: number;
    /** Severity `high` */
    high: number;
    /** Severity `medium` */
    medium: number;
    /** Severity `low` */
    low: number;
    /** Severity `info` */
    info: number;
    /** Severity `unknown` */
    unknown: number;
  };
  /** Findings that were closed in the interval, by their severity now */
  closed_by_severity: {
    /** Severity `critical` */
    critical: number;
    /** Severity `high` */
    high: number;
    /** Severity `medium` */
    medium: number;
    /** Severity `low` */
    low: number;
    /** Severity `info` */
    info: number;
    /** Severity `unknown` */
    unknown: number;
  };
  /** Deadlines in the interval */
  sla: {
    /** Findings whose deadline is in the interval, without active ones that are suppressed */
    due: number;
    /** Those that were closed by their deadline */
    met: number;
    /** Those that were not closed by their deadline. The rest is not due yet */
    missed: number;
  };
  /** Mean number of days from first seen to verified, of the findings that were verified in the interval. `null` if there are none */
  mean_days_to_remediate: number | null;
};

export type FixState = 'available' | 'not_available' | 'will_not_fix' | 'end_of_life';

export type GapCode =
  | 'no_findings'
  | 'unfinished'
  | 'unlinked_active'
  | 'unlinked_excepted'
  | 'other_open_on_asset'
  | 'withdrawn_by_person'
  | 'asset_gone'
  | 'withdrawn_by_source'
  | 'exception_self_decided'
  | 'exception_without_end'
  | 'exception_expired'
  | 'suppressed_in_tool'
  | 'no_rescan'
  | 'verifier_took_part'
  | 'no_scan_before'
  | 'scan_not_kept'
  | 'scan_by_worker'
  | 'scan_by_hand'
  | 'scan_self_described'
  | 'scan_copied'
  | 'scan_undated'
  | 'scan_contradicts'
  | 'scan_failed'
  | 'source_removed'
  | 'version_not_rescanned'
  | 'source_stale'
  | 'scan_older_than_claim'
  | 'scan_uncredentialed'
  | 'scan_narrower'
  | 'search_stated'
  | 'scanner_outdated'
  | 'brake_confirmed'
  | 'severity_lowered'
  | 'sla_missed'
  | 'kev_past_due'
  | 'clock_reset'
  | 'policy_loosened'
  | 'policy_changed'
  | 'no_approval'
  | 'approval_stale'
  | 'approver_took_part'
  | 'rejected'
  | 'no_artifact'
  | 'artifact_not_captured'
  | 'artifact_removed'
  | 'content_redacted'
  | 'no_timestamp'
  | 'witness_missing'
  | 'log_restarted'
  | 'interrupted_sealing';

export type GapWeight = 'major' | 'minor' | 'note';

export type Grade = 'A' | 'B' | 'C' | 'D';

export type HealthStatus = 'healthy' | 'degraded' | 'failing' | 'stale' | 'paused' | 'never_synced';

export type IdentityRule = {
  /** ID (UUIDv7) */
  id: string;
  /** Why the findings were merged: a person decided it, their assets were merged, two ids turned out to be one vulnerability, a package turned out to be built from a source package, or two names turned out to be one component */
  kind: 'by_person' | 'asset_merge' | 'alias' | 'source_package' | 'component';
  /** The finding that was merged */
  finding_id: string;
  /** The finding that it was merged into */
  into_id: string;
  /** Who decided it. null for imports */
  by: {
    /** Id of the member. If no member stands behind the credential: id of the API key, or subject of the access token */
    id: string;
    /** Name of the person */
    name: string;
  } | null;
  /** Reason for the merge */
  reason: string | null;
  /** When the findings were merged */
  created_at: string;
  /** When the findings were separated again */
  revoked_at: string | null;
  /** Who separated the findings again */
  revoked_by: string | null;
};

export type Import = {
  /** ID (UUIDv7) */
  id: string;
  /** Status of the import. `needs_confirmation`: it would close unusually many findings, or some that a connection last saw with other settings, and waits for a person */
  status: ImportStatus;
  /** Format of the report. `null` until it is detected */
  format: string | null;
  /** Name of the report file */
  filename: string | null;
  /** SHA-256 of the report file */
  sha256: string;
  /** Size of the report file in bytes */
  bytes: number;
  /** When the stored report file was deleted. `null`: it is stored */
  file_deleted_at: string | null;
  /** Name of the credential that deleted the file, or `retention policy` */
  file_deleted_by: string | null;
  scan_scope: ScanScope;
  /** What the report states about the scan as a whole. null: it does not say, or says it only of single assets */
  scan: {
    /** Version of the tool */
    tool_version: string | null;
    /** When the scan began */
    started_at: string | null;
    /** When the scan ended */
    finished_at: string | null;
    /** Version of the vulnerability database or plugins */
    knowledge: string | null;
    /** Date of the vulnerability database or plugins */
    knowledge_at: string | null;
    /** Whether the tool could sign in to what it scanned */
    credentialed: boolean | null;
  };
  /** How far the import has come */
  progress: {
    /** Bytes read so far */
    bytes_read: number;
    /** Records read so far */
    records_read: number;
  };
  counts: ImportCounts;
  counts_by_severity: ImportCountsBySeverity;
  /** The first 1,000 rejected records */
  rejected: {
    /** Position in the file */
    place: string;
    /** Why the record was rejected */
    reason: string;
  }[];
  /** Remarks, for example why nothing was closed */
  notes: string[];
  /** Why the import failed */
  error: string | null;
  /** Whether the import only reports what would change */
  dry_run: boolean;
  /** Name of the credential that uploaded the report */
  created_by: string;
  /** The trusted pipeline that uploaded the report. null for other credentials */
  pipeline: {
    /** ID of the trust that the token met */
    trust_id: string;
    /** Issuer of the token */
    issuer: string;
    /** Subject of the token */
    subject: string;
    /** Repository or project */
    repository: string | null;
    /** ID of the repository or project */
    repository_id: string | null;
    /** Branch or tag */
    ref: string | null;
    /** Whether the issuer says that the ref is protected */
    ref_protected: boolean;
    /** Commit */
    sha: string | null;
    /** Environment of the deployment */
    environment: string | null;
    /** Definition of the pipeline */
    workflow: string | null;
    /** ID of the run */
    run_id: string | null;
    /** When the token was issued */
    issued_at: string;
    /** SHA-256 of the token's ID (`jti`) */
    token_sha256: string | null;
  } | null;
  /** When the report was uploaded */
  created_at: string;
  /** When the import started */
  started_at: string | null;
  /** When the import finished */
  finished_at: string | null;
};

export type ImportChange = {
  /** Current title of the finding */
  title: string;
  /** ID of the finding */
  finding_id: string;
  /** What the import did to the finding. If several apply, the first of: `created`, `reopened`, `closed`, `updated`. A finding that a pull request brings back is `reopened`, but keeps its status */
  kind: ImportChangeKind;
  /** Current severity of the finding */
  severity: Severity;
  /** Asset of the finding */
  asset: {
    /** ID (UUIDv7) */
    id: string;
    /** Type of the asset */
    type: AssetType;
    /** Name of the asset */
    name: string;
  };
  /** Status before the import. `null` if the finding is new or its status did not change */
  from_status: FindingStatus | null;
  /** Status after the import. `null` if it did not change */
  to_status: FindingStatus | null;
  /** What the sources say differently since the import */
  fields: {
    /** What changed. `version` is that of the component */
    field: 'severity' | 'version' | 'title';
    /** Value before the import */
    from: string | null;
    /** Value after the import */
    to: string | null;
  }[];
};

export type ImportChangeKind = 'created' | 'reopened' | 'closed' | 'updated' | 'unchanged';

export type ImportChangeList = {
  /** The items of this page */
  data: ImportChange[];
  page: Page;
};

export type ImportCounts = {
  /** Records in the report */
  received: number;
  /** Findings that were created */
  created: number;
  /** Findings that changed */
  updated: number;
  /** Records that changed nothing */
  unchanged: number;
  /** Findings that were reopened */
  reopened: number;
  /** Records that could not be read */
  rejected: number;
  /** Findings that were closed because the report no longer shows them */
  closed: number;
};

/** How many findings of each severity were created, reopened and closed. For a dry run: how many would be */
export type ImportCountsBySeverity = {
  /** Findings that were created, by severity */
  created: {
    /** Findings with severity `critical` */
    critical: number;
    /** Findings with severity `high` */
    high: number;
    /** Findings with severity `medium` */
    medium: number;
    /** Findings with severity `low` */
    low: number;
    /** Findings with severity `info` */
    info: number;
    /** Findings with severity `unknown` */
    unknown: number;
  };
  /** Findings that were reopened, by severity */
  reopened: {
    /** Findings with severity `critical` */
    critical: number;
    /** Findings with severity `high` */
    high: number;
    /** Findings with severity `medium` */
    medium: number;
    /** Findings with severity `low` */
    low: number;
    /** Findings with severity `info` */
    info: number;
    /** Findings with severity `unknown` */
    unknown: number;
  };
  /** Findings that were closed, by severity */
  closed: {
    /** Findings with severity `critical` */
    critical: number;
    /** Findings with severity `high` */
    high: number;
    /** Findings with severity `medium` */
    medium: number;
    /** Findings with severity `low` */
    low: number;
    /** Findings with severity `info` */
    info: number;
    /** Findings with severity `unknown` */
    unknown: number;
  };
};

export type ImportFormat = {
  /** Id of the format */
  id: string;
  /** Name of the tool or format */
  name: string;
  /** Which command or export writes such a file */
  description: string;
  /** Documentation of the format */
  documentation: string;
};

export type ImportFormats = {
  /** All report formats */
  data: ImportFormat[];
};

export type ImportList = {
  /** The items of this page */
  data: ListedImport[];
  page: Page;
};

export type ImportStatus = 'queued' | 'running' | 'succeeded' | 'failed' | 'needs_confirmation' | 'discarded';

export type InboundAccepted = {
  /** Always true */
  accepted: boolean;
};

export type InclusionProof = {
  /** Index of the entry, from 0. */
  index: number;
  /** Number of entries in the tree. */
  tree_size: number;
  /** Leaf hash of the entry in hexadecimal. */
  leaf_hash: string;
  /** Root hash of the tree in hexadecimal. */
  root_hash: string;
  /** Audit path, ordered from the leaf to the root. */
  hashes: string[];
};

export type IntegrationCatalog = {
  /** All providers */
  data: IntegrationProvider[];
};

export type IntegrationHealth = {
  summary: IntegrationHealthSummary;
  /** One entry per connection */
  connections: ConnectionHealth[];
};

/** Connections per status */
export type IntegrationHealthCounts = {
  /** Connections with this status: the last run succeeded */
  healthy: number;
  /** Connections with this status: the last run was partial or awaits confirmation */
  degraded: number;
  /** Connections with this status: the last run failed */
  failing: number;
  /** Connections with this status: two intervals have passed without a successful run */
  stale: number;
  /** Connections with this status: the connection is disabled */
  paused: number;
  /** Connections with this status: no run has ended yet */
  never_synced: number;
};

/** All connections together */
export type IntegrationHealthSummary = {
  /** Number of connections */
  connections: number;
  by_status: IntegrationHealthCounts;
  /** Runs of the last 24 hours */
  runs_24h: number;
  /** Failed or partial runs of the last 24 hours */
  failed_runs_24h: number;
  /** `failed_runs_24h` divided by `runs_24h`, from 0 to 1 */
  error_rate_24h: number;
  /** When this summary was computed */
  checked_at: string;
};

export type IntegrationProvider = {
  /** Provider id, used as `provider` when you create a connection */
  id: string;
  /** `scanner` imports findings, `enrichment` adds vulnerability data, `ticketing` keeps tickets in sync */
  kind: ConnectorKind;
  /** Display name */
  name: string;
  /** Version of the connector. It increases when stored settings need a change */
  version: number;
  /** What the connector does, in one or two sentences */
  description: string;
  /** The vendor's documentation of its API */
  documentation: string;
  /** Permissions that the credentials need */
  permissions: string;
  /** `test`: can be tested. `sync`: has runs. `tickets`: accepts work items */
  capabilities: string[];
  /** URL for webhooks of the vendor. `{connection_id}` stands for the id of the connection. null if the provider receives none */
  inbound_url: string | null;
  /** JSON Schema 2020-12 of `config`. Every field has a title, a description, a group (`x-group`: `connection`, `content`, `credentials`, `webhook` or `advanced`) and a position (`x-order`), and free text has `examples` or a default. `x-labels` has the display text for the values of an `enum`. Fields with `x-multiline` have several lines */
  config_schema: Record<string, unknown>;
  /** JSON Schema 2020-12 of `credentials`, like `config_schema`. Secrets are `writeOnly` and have the format `password`. `x-link` is the page of the vendor where the secret is created, or its instructions */
  credentials_schema: Record<string, unknown>;
};

export type Invitation = {
  /** Whether the member chooses the first password or a new one */
  kind: 'invitation' | 'password_reset';
  /** E-mail address, stored in lower case */
  email: string;
  /** Display name, with at least one visible character */
  name: string;
  organization: OrganizationRef;
  /** When the link expires */
  expires_at: string;
};

export type InvitationAcceptance = {
  /** Password, 12 to 200 characters. It is stored as an Argon2id hash */
  password: string;
  /** Whether to revoke all API keys of the member too, because somebody else may have created some. Default: false */
  revoke_api_keys?: boolean;
};

export type InvitationCreated = {
  /** ID (UUIDv7) */
  id: string;
  /** Whether the member chooses the first password or a new one */
  kind: 'invitation' | 'password_reset';
  /** The link. It works once and cannot be retrieved again. Send it to the member only */
  url: string;
  /** When the link expires */
  expires_at: string;
};

export type Justification =
  | 'code_not_present'
  | 'code_not_reachable'
  | 'requires_configuration'
  | 'requires_dependency'
  | 'requires_environment'
  | 'protected_by_compiler'
  | 'protected_at_runtime'
  | 'protected_at_perimeter'
  | 'protected_by_mitigating_control'
  | 'inaccurate_finding';

export type Level = 'low' | 'medium' | 'high' | 'critical';

export type LinkedFinding = {
  /** Title of the finding */
  title: string;
  /** Id of the finding (UUIDv7) */
  finding_id: string;
  /** Status of the finding */
  status: FindingStatus;
  /** How well the status is supported */
  assurance: Assurance | null;
  /** Severity of the finding */
  severity: Severity;
  /** Risk score from 0 to 100 */
  risk_score: number;
  /** Asset of the finding */
  asset: {
    /** Id of the asset (UUIDv7) */
    id: string;
    /** Name of the asset */
    name: string;
  };
  /** When the finding was added to the work item */
  linked_at: string;
  /** Who added it */
  linked_by: string;
  /** When the finding was removed from the work item */
  unlinked_at: string | null;
  /** Who removed it */
  unlinked_by: string | null;
  /** Why it was removed */
  unlink_reason: string | null;
};

export type LinkedFindingList = {
  /** The items of this page */
  data: LinkedFinding[];
  page: Page;
};

export type ListedEvidencePackage = {
  /** Id of the evidence package. */
  package_id: string;
  /** Id of the work item. */
  work_item_id: string;
  /** Title of the work item when the package was requested. */
  work_item_title: string;
  /** Number of the package within the work item, from 1. */
  sequence: number;
  /** `superseded`: a later package replaced it, or a finding that it reports as closed was reopened. */
  status: PackageStatus;
  /** Why generation failed. Null unless the status is `failed`. */
  error: string | null;
  /** Conclusion, computed from the states of the findings. Null until the package is ready. */
  conclusion: Conclusion | null;
  /** How complete the evidence is. Null until the package is ready. */
  completeness: {
    /** A: no gaps. B: minor gaps only. C: one kind of major gap. D: several kinds. */
    grade: Grade;
    /** What the package lacks. */
    gaps: EvidenceGap[];
  } | null;
  /** What the package contains. Null until it is ready. */
  counts: {
    /** Number of findings. */
    findings: number;
    /** Number of artifacts. */
    artifacts: number;
    /** Number of scans. */
    scans: number;
  } | null;
  /** Hashes that identify the package. Null until it is ready. */
  hashes: {
    /** SHA-256 of the ZIP file in hexadecimal. */
    archive_sha256: string;
    /** SHA-256 of `manifest-sha256.txt` in hexadecimal. */
    manifest_sha256: string;
    /** SHA-256 of `tagmanifest-sha256.txt` in hexadecimal. */
    tagmanifest_sha256: string;
    /** Leaf hash of the entry in the transparency log in hexadecimal. */
    log_leaf_sha256: string;
  } | null;
  /** Key that signed the package. `GET /riskops-evidence/keys` lists the keys. Null until the package is ready. */
  signature: {
    /** Id of the signing key. */
    key_id: string;
    /** Signature algorithm. */
    algorithm: string;
  } | null;
  /** Entry in your organization's transparency log. Null until the package is ready. */
  log: {
    /** Index of the entry, from 0. */
    index: number;
    /** Number of entries after the entry was appended. */
    tree_size: number;
    /** Root hash of that tree in hexadecimal. */
    root_hash: string;
  } | null;
  /** RFC 3161 timestamps in the ZIP file. Empty if no time-stamping authority is configured or none answered. */
  timestamps: {
    /** Path in the ZIP file. */
    file: string;
  }[];
  /** Witnesses of the transparency log. Empty if none is configured. */
  witnesses: EvidenceWitness[];
  /** Available downloads. Empty until the package is ready. */
  downloads: EvidenceDownload[];
  /** Note given with the request. */
  note: string | null;
  generated_by: EvidencePerson;
  /** When the package was requested. */
  requested_at: string;
  /** Time of the snapshot that the package describes. Null until the package is ready. */
  as_of: string | null;
  /** When the package was generated. Null until the package is ready. */
  generated_at: string | null;
  /** Why the package is no longer current. It still verifies for its date. Null unless superseded. */
  superseded: {
    /** When the package was superseded. */
    at: string;
    /** Id of the package that replaced it, if there is one. */
    by: string | null;
    /** Why it was superseded. */
    reason: string;
  } | null;
  /** Id of the package that replaced it, if there is one. */
  superseded_by: string | null;
};

export type ListedFinding = {
  /** Short description of the weakness */
  title: string;
  /** ID (UUIDv7) */
  id: string;
  /** Status of the finding */
  status: FindingStatus;
  /** How well the closure is proven */
  assurance: Assurance | null;
  /** Severity from the source, unless a person overrode it */
  severity: Severity;
  /** Whether a person set the severity */
  severity_overridden: boolean;
  /** Whether the sources that still see the finding differ by two steps of severity or more */
  severity_disputed: boolean;
  /** CVE ids */
  cves: string[];
  /** CVE and other public ids */
  vulnerability_ids: string[];
  /** CWE numbers */
  cwes: number[];
  /** CVSS rating of the most recent CVSS version that is known */
  cvss: {
    /** CVSS version */
    version: string | null;
    /** CVSS vector. `null` if the sources state only a score */
    vector: string | null;
    /** Base score from 0 to 10, computed from the vector if there is one */
    score: number;
  } | null;
  /** EPSS score from FIRST */
  epss: {
    /** Probability of exploitation in the next 30 days, from 0 to 1 */
    score: number;
    /** Share of all vulnerabilities with a lower or equal score, from 0 to 1 */
    percentile: number | null;
    /** Date of the score */
    date: string | null;
  } | null;
  /** CISA's catalog of known exploited vulnerabilities */
  kev: {
    /** Whether the vulnerability is known to be exploited: it is in CISA's catalog, or CISA's SSVC decision or a report says so */
    listed: boolean;
    /** Date by which CISA requires agencies to remediate */
    due_date: string | null;
  };
  /** How far exploits have developed, according to the sources */
  exploit_maturity: ExploitMaturity | null;
  /** Whether the component itself is malicious */
  malicious: boolean;
  /** Whether there is a fix, according to the sources */
  fix_state: FixState | null;
  /** The earliest day on which a fix was published, according to the sources */
  fix_published_date: string | null;
  /** The tool's id of the check */
  rule: string | null;
  /** Risk from 0 to 100, from severity, exploitation, and the asset */
  risk_score: number;
  asset: AssetRef;
  location: Location;
  /** In how many places of the asset sources still see the finding */
  place_count: number;
  /** Sources that report the finding */
  sources: Source[];
  /** When a source first saw the finding */
  first_seen: string;
  /** When a scan last saw the finding. Refreshed at most once a day */
  last_seen: string;
  /** Deadline from the SLA policy */
  due_at: string | null;
  /** Whether an active finding that is not suppressed has passed its deadline */
  overdue: boolean;
  /** Whether all sources that still see the finding suppress it */
  suppressed: boolean;
  /** How often a scan reopened the finding */
  reopen_count: number;
  /** Tags from sources and people */
  tags: string[];
  /** Reason for the last change of status, in words */
  status_reason: string | null;
  /** Why the status last changed: `by_person` A person changed the status. `by_connection` A connection changed the status. `scan_absent` A complete scan no longer reports the finding. `scan_seen_again` A scan reports the finding again. `scan_unable` The scan that no longer showed the finding was not able to show it. `source_fixed` The source states that the finding is fixed. `source_retracted` The source no longer reports the finding, although what it scanned has not changed. `source_retired` The source that reported the finding was retired. `check_retired` The tool no longer has the check that reported the finding. `new_occurrence` The finding was reported at a location that the decision does not cover. `regression` The finding came back where scans had shown that it was gone. `risk_increased` The severity rose, or the vulnerability was listed as exploited, after the risk was accepted. `acceptance_approved` A second person approved the acceptance of the risk. `acceptance_expired` The risk acceptance expired. `acceptance_fixed` Scans no longer report the finding, so the acceptance of its risk is no longer needed. `acceptance_resumed` The finding is back while its risk is still accepted. `decision_resumed` The finding is only reported at locations that the decision covers. `asset_retired` The asset was retired. `asset_gone` The source no longer lists the asset. `asset_listed` The source lists the asset again. `track_ended` The branch or environment that had the finding ended. `track_unmerged` The scan that no longer showed the finding covered another branch or environment. `asset_unmerged` The scan that had changed the status covered another asset. `merged` The finding was merged into another one. `split` The finding was separated from another one. */
  reason_code: ReasonCode | null;
  /** When the status last changed */
  status_changed_at: string;
  /** Acceptance of the risk: the active one, else the one that waits for approval */
  acceptance: {
    /** `requested` until a second person approves it, under the four-eyes policy */
    state: 'requested' | 'active';
    /** Who is responsible for the risk */
    owner: string;
    /** When the acceptance ends */
    expires_at: string;
    /** Why the risk is accepted */
    reason: string | null;
    /** What lowers the risk while it is accepted */
    compensating_control: string | null;
    /** Who accepted the risk, or requested it */
    requested_by: {
      /** Id of the member. If no member stands behind the credential: id of the API key, or subject of the access token */
      id: string;
      /** Name of the person */
      name: string;
    } | null;
    /** When it was accepted or requested */
    requested_at: string | null;
    /** The second person who approved it. null without the four-eyes policy */
    approved_by: {
      /** Id of the member. If no member stands behind the credential: id of the API key, or subject of the access token */
      id: string;
      /** Name of the person */
      name: string;
    } | null;
    /** When it was approved */
    approved_at: string | null;
  } | null;
  /** To how many work items the finding is linked */
  work_item_count: number;
  /** The last three work items that the finding was linked to, the last one first */
  work_items: WorkItemRef[];
  /** Version of the object, also its ETag */
  version: number;
  /** When the finding was created */
  created_at: string;
  /** When the finding last changed. New EPSS scores do not count */
  updated_at: string;
};

export type ListedImport = {
  /** ID (UUIDv7) */
  id: string;
  /** Status of the import. `needs_confirmation`: it would close unusually many findings, or some that a connection last saw with other settings, and waits for a person */
  status: ImportStatus;
  /** Format of the report. `null` until it is detected */
  format: string | null;
  /** Name of the report file */
  filename: string | null;
  /** SHA-256 of the report file */
  sha256: string;
  /** Size of the report file in bytes */
  bytes: number;
  /** When the stored report file was deleted. `null`: it is stored */
  file_deleted_at: string | null;
  /** Name of the credential that deleted the file, or `retention policy` */
  file_deleted_by: string | null;
  scan_scope: ScanScope;
  /** How far the import has come */
  progress: {
    /** Bytes read so far */
    bytes_read: number;
    /** Records read so far */
    records_read: number;
  };
  counts: ImportCounts;
  counts_by_severity: ImportCountsBySeverity;
  /** Remarks, for example why nothing was closed */
  notes: string[];
  /** Why the import failed */
  error: string | null;
  /** Whether the import only reports what would change */
  dry_run: boolean;
  /** Name of the credential that uploaded the report */
  created_by: string;
  /** The trusted pipeline that uploaded the report. null for other credentials */
  pipeline: {
    /** ID of the trust that the token met */
    trust_id: string;
    /** Issuer of the token */
    issuer: string;
    /** Subject of the token */
    subject: string;
    /** Repository or project */
    repository: string | null;
    /** ID of the repository or project */
    repository_id: string | null;
    /** Branch or tag */
    ref: string | null;
    /** Whether the issuer says that the ref is protected */
    ref_protected: boolean;
    /** Commit */
    sha: string | null;
    /** Environment of the deployment */
    environment: string | null;
    /** Definition of the pipeline */
    workflow: string | null;
    /** ID of the run */
    run_id: string | null;
    /** When the token was issued */
    issued_at: string;
    /** SHA-256 of the token's ID (`jti`) */
    token_sha256: string | null;
  } | null;
  /** When the report was uploaded */
  created_at: string;
  /** When the import started */
  started_at: string | null;
  /** When the import finished */
  finished_at: string | null;
};

export type ListedWorkItem = {
  /** What is to be done */
  title: string;
  /** Id of the work item (UUIDv7) */
  id: string;
  /** Follows from the findings: `verified` if the evidence proves that all of them are fixed. Only people set `blocked` and `cancelled` */
  status: WorkItemStatus;
  /** Reason that a person gave for the status */
  status_reason: string | null;
  /** When the status last changed */
  status_changed_at: string;
  /** E-mail address of a member, or any other name */
  assignee: string | null;
  /** Id of the assigned member. null if the assignee is not a member */
  assignee_member_id: string | null;
  /** Name of the assigned member. null if the assignee is not a member */
  assignee_name: string | null;
  /** Priority of the work */
  priority: Level;
  /** When the work is due */
  due_at: string | null;
  /** Whether the work item is open and past its due date */
  overdue: boolean;
  /** Reference in another system, such as a change number */
  external_ref: string | null;
  /** The closed work item whose findings came back */
  follows: string | null;
  findings: WorkItemFindings;
  /** When the work item was closed */
  closed_at: string | null;
  /** Who created the work item */
  created_by: string;
  /** Increases with each change. Also the ETag */
  version: number;
  /** When the work item was created */
  created_at: string;
  /** When the work item was last changed */
  updated_at: string;
};

export type Location = {
  /** Package or product */
  component: string | null;
  /** Installed version of the component */
  version: string | null;
  /** First version without the weakness. Several versions are separated by ", " */
  fixed_version: string | null;
  /** Package URL of the component */
  purl: string | null;
  /** File, with "/" as separator */
  path: string | null;
  /** First line in the file */
  line: number | null;
  /** Last line in the file */
  end_line: number | null;
  /** Network port */
  port: number | null;
  /** Protocol on the port */
  protocol: string | null;
  /** URL of the page or endpoint */
  url: string | null;
  /** HTTP method */
  method: string | null;
  /** Request parameter */
  parameter: string | null;
  /** Resource in code or cloud, for example `aws_s3_bucket.logs` or an ARN */
  resource: string | null;
};

export type LogCheckpoint = {
  /** Name of the transparency log. */
  origin: string;
  /** Number of the epoch. A log that was restored from a backup continues in a new epoch, which is a tree of its own. */
  epoch: number;
  /** Number of entries in the tree. */
  tree_size: number;
  /** Root hash of the tree in hexadecimal. */
  root_hash: string;
  /** Checkpoint as a C2SP signed note, signed with the Ed25519 key of the log. */
  note: string;
  /** The same checkpoint in the format of Rekor, signed with the P-256 key of the log. */
  rekor_note: string;
  /** When the checkpoint was recorded. */
  created_at: string;
};

export type LogEntry = {
  /** Index of the entry, from 0. */
  index: number;
  /** RFC 6962 leaf hash of the entry in hexadecimal. */
  leaf_hash: string;
  /** Content of the leaf: canonical JSON with hashes, signature and public key. */
  entry: string;
  /** Id of the evidence package. */
  package_id: string | null;
  /** DSSE envelope of a statement about the log itself: the start of an epoch, or a rotation of keys. Null for packages. */
  statement: string | null;
  /** Whether a package was published with this entry. False if sealing was interrupted after the entry was appended. */
  published: boolean;
  /** When the package was published. Null if it was not. */
  published_at: string | null;
  /** When the entry was appended. */
  appended_at: string;
};

export type Me = {
  /** Kind of credential. `oidc` is an access token that carries its own role */
  type: 'api_key' | 'member' | 'oidc';
  /** Id of the API key or member, or the subject of the OIDC token */
  id: string | null;
  /** Name of the API key or of the person */
  name: string;
  /** The person behind the credential. All sessions, API keys and access tokens of a member are one person */
  person: {
    /** Id of the member. If no member stands behind the credential: id of the API key, or subject of the access token */
    id: string;
    /** Name of the person */
    name: string;
  } | null;
  /** E-mail address of the person. null for an API key */
  email: string | null;
  /** Role: `owner` can do everything, including changes to the organization. `admin` can do what an analyst can, manage members, API keys, webhooks and integrations, and read the audit trail. `analyst` can do what a viewer can, import reports, triage findings, and manage assets, work items and evidence. `viewer` can read everything except API keys, webhooks and the audit trail. `auditor` can read what a viewer can, and the audit trail */
  role: Role;
  /** Permissions of the role */
  permissions: Permission[];
  organization: OrganizationRef;
  /** Whether somebody else chose the password. The session can then only read, until `PUT /me/password` changes the password */
  must_change_password: boolean;
  /** When the credential expires. null: never */
  expires_at: string | null;
};

/** Mean number of days from first seen to verified. `null` if no finding is verified */
export type MeanDaysToRemediate = {
  /** All severities */
  all: number | null;
  /** Severity `critical` */
  critical: number | null;
  /** Severity `high` */
  high: number | null;
  /** Severity `medium` */
  medium: number | null;
  /** Severity `low` */
  low: number | null;
  /** Severity `info` */
  info: number | null;
  /** Severity `unknown` */
  unknown: number | null;
};

export type Member = {
  /** ID (UUIDv7) */
  id: string;
  /** E-mail address, stored in lower case */
  email: string;
  /** Display name, with at least one visible character */
  name: string;
  /** Role: `owner` can do everything, including changes to the organization. `admin` can do what an analyst can, manage members, API keys, webhooks and integrations, and read the audit trail. `analyst` can do what a viewer can, import reports, triage findings, and manage assets, work items and evidence. `viewer` can read everything except API keys, webhooks and the audit trail. `auditor` can read what a viewer can, and the audit trail */
  role: Role;
  /** Whether the member can sign in with a password */
  has_password: boolean;
  /** Whether somebody else chose the password. The session can then only read, until `PUT /me/password` changes the password */
  must_change_password: boolean;
  /** Whether the member has signed in at the identity provider. Only that account is the member then */
  identity_provider_linked: boolean;
  /** Version of the object, also its ETag. Each change increases it by 1 */
  version: number;
  /** When the object was created */
  created_at: string;
  /** When the object was last changed */
  updated_at: string;
};

export type MemberCreate = {
  /** E-mail address, stored in lower case */
  email: string;
  /** Display name, with at least one visible character */
  name: string;
  /** Role: `owner` can do everything, including changes to the organization. `admin` can do what an analyst can, manage members, API keys, webhooks and integrations, and read the audit trail. `analyst` can do what a viewer can, import reports, triage findings, and manage assets, work items and evidence. `viewer` can read everything except API keys, webhooks and the audit trail. `auditor` can read what a viewer can, and the audit trail */
  role: Role;
  /** Password, 12 to 200 characters. If absent, the member can sign in only through the identity provider */
  password?: string;
};

export type MemberList = {
  /** The items of this page */
  data: Member[];
  page: Page;
};

export type MemberPatch = {
  /** Display name, with at least one visible character */
  name?: string;
  /** Role: `owner` can do everything, including changes to the organization. `admin` can do what an analyst can, manage members, API keys, webhooks and integrations, and read the audit trail. `analyst` can do what a viewer can, import reports, triage findings, and manage assets, work items and evidence. `viewer` can read everything except API keys, webhooks and the audit trail. `auditor` can read what a viewer can, and the audit trail */
  role?: Role;
  /** New password, 12 to 200 characters. Setting it ends the member's sessions */
  password?: string;
};

export type NewEvidencePackage = {
  /** Id of the work item. */
  work_item_id: string;
  /** Formats to include. Default: all. `html`, `json` and `jsonl` are always included. */
  formats?: PackageFormat[];
  /** Returns what the package would state, and generates nothing. Default: false. */
  dry_run?: boolean;
  /** Note that is shown in the package. Default: none. */
  note?: string | null;
};

export type NewShareLink = {
  /** Who the link is for. Download receipts name the recipient. */
  recipient: string;
  /** When the link expires. At most 2160 hours from now. Excludes `expires_in_hours`. */
  expires_at?: string;
  /** Lifetime of the link in hours. Default: 168. Excludes `expires_at`. */
  expires_in_hours?: number;
  /** Number of downloads after which the link stops working. 1 makes a link for one use. Default: no limit. Each request for a file counts. A range request does not count if the same address started to download the same format with the link within the last hour. */
  max_downloads?: number | null;
};

export type Occurrence = {
  /** ID of the occurrence */
  id: string;
  /** Where the finding is: a path, URL, resource, port or package */
  place: string;
  location: Location;
  source: Source;
  /** The branch, environment or release line of the asset. `default` until it has a name */
  track: string;
  /** Whether the source still sees it. `unknown`: the source was retired or the track has ended, so nothing more will be said */
  state: 'present' | 'absent' | 'unknown';
  /** When the source first saw the finding there */
  first_seen: string;
  /** When the source last saw the finding there */
  last_seen: string;
};

export type OccurrenceList = {
  /** The items of this page */
  data: Occurrence[];
  page: Page;
};

export type Organization = {
  /** ID (UUIDv7) */
  id: string;
  /** Short name of the organization. It never changes */
  slug: string;
  /** Display name */
  name: string;
  policy: Policy;
  /** Version of the object, also its ETag. Each change increases it by 1 */
  version: number;
  /** When the object was created */
  created_at: string;
  /** When the object was last changed */
  updated_at: string;
};

export type OrganizationPatch = {
  /** Display name, with at least one visible character */
  name?: string;
  policy?: PolicyPatch;
};

/** Organization that the credential belongs to */
export type OrganizationRef = {
  /** ID (UUIDv7) */
  id: string;
  /** Short name of the organization. It never changes */
  slug: string;
  /** Display name */
  name: string;
};

export type OrganizationUsage = {
  /** Findings */
  findings: {
    /** Number of findings */
    count: number;
    /** Estimated size of the rows in the database, without indexes */
    bytes: number;
  };
  /** Uploaded reports */
  imports: {
    /** Number of imports */
    count: number;
    /** Stored report files. Equal files are stored and counted once */
    files: number;
    /** Size of these files in bytes */
    bytes: number;
  };
  /** Runs of connections */
  sync_runs: {
    /** Number of runs */
    count: number;
    /** Estimated size of the rows in the database, without indexes */
    bytes: number;
  };
  /** Records of what runs collected */
  run_records: {
    /** Number of imports of runs */
    count: number;
    /** Stored records. Equal files are stored and counted once */
    files: number;
    /** Size of these files in bytes */
    bytes: number;
  };
  /** Events */
  events: {
    /** Number of events */
    count: number;
    /** Estimated size of the rows in the database, without indexes */
    bytes: number;
  };
  /** Deliveries to webhooks */
  deliveries: {
    /** Number of deliveries */
    count: number;
    /** Estimated size of the rows in the database, without indexes */
    bytes: number;
  };
  /** Evidence packages */
  evidence_packages: {
    /** Number of packages, including failed ones */
    count: number;
    /** Size of their archives in bytes */
    bytes: number;
  };
  /** Artifacts */
  artifacts: {
    /** Number of artifacts, including links and removed ones */
    count: number;
    /** Stored files of artifacts that were not removed. Equal files are stored and counted once */
    files: number;
    /** Size of these files in bytes */
    bytes: number;
  };
  /** Responses that are stored for idempotency keys */
  idempotency_keys: {
    /** Number of stored responses */
    count: number;
    /** Estimated size of the rows in the database, without indexes */
    bytes: number;
  };
};

export type PackageFormat = 'pdf' | 'html' | 'json' | 'jsonl' | 'csv' | 'oscal-ar' | 'oscal-poam' | 'openvex' | 'cyclonedx-vex' | 'sarif';

export type PackageStatus = 'generating' | 'ready' | 'failed' | 'superseded';

/** Ready packages by completeness grade. */
export type PackagesByGrade = {
  /** Number of packages with grade `A`. */
  A: number;
  /** Number of packages with grade `B`. */
  B: number;
  /** Number of packages with grade `C`. */
  C: number;
  /** Number of packages with grade `D`. */
  D: number;
};

/** Packages by status. */
export type PackagesByStatus = {
  /** Number of packages with status `generating`. */
  generating: number;
  /** Number of packages with status `ready`. */
  ready: number;
  /** Number of packages with status `failed`. */
  failed: number;
  /** Number of packages with status `superseded`. */
  superseded: number;
};

export type Page = {
  /** Maximum number of items per page */
  limit: number;
  /** Cursor of the next page. `null` on the last page */
  next_cursor: string | null;
  /** Cursor of the previous page. `null` on the first page */
  prev_cursor: string | null;
  /** Number of items on all pages. `null` unless the parameter `total` asks for it */
  total: {
    /** Number of items that match the filters */
    count: number;
    /** `exact`: `count` is the total. `at_least`: counting stopped at the limit */
    relation: 'exact' | 'at_least';
  } | null;
};

export type PasswordChange = {
  /** Current password */
  current_password: string;
  /** New password, 12 to 200 characters */
  new_password: string;
  /** Whether to revoke all API keys of the member too, because somebody else may have created some. Default: false */
  revoke_api_keys?: boolean;
};

export type Permission =
  | 'organization:read'
  | 'organization:manage'
  | 'members:read'
  | 'members:manage'
  | 'api_keys:read'
  | 'api_keys:manage'
  | 'audit:read'
  | 'events:read'
  | 'views:save'
  | 'views:share'
  | 'webhooks:read'
  | 'webhooks:manage'
  | 'assets:read'
  | 'assets:manage'
  | 'findings:read'
  | 'findings:triage'
  | 'imports:read'
  | 'imports:manage'
  | 'integrations:read'
  | 'integrations:sync'
  | 'integrations:manage'
  | 'work_items:read'
  | 'work_items:manage'
  | 'evidence:read'
  | 'evidence:manage';

export type PipelineTrust = {
  /** ID (UUIDv7) */
  id: string;
  /** Display name. Imports and the audit trail show it */
  name: string;
  /** Issuer of the tokens, exactly as their claim `iss` names it. GitHub Actions: `https://token.actions.githubusercontent.com`. GitLab: the URL of the instance */
  issuer: string;
  /** Audience that the pipeline must request for its token. It names your organization */
  audience: string;
  /** Claims that a token must have, each with the values that are allowed. All claims must match. `*` stands for one or more characters other than `/` and `:`, and must not be at the beginning of a value. At least one claim must say whose pipeline it is, such as `repository` (GitHub) or `project_path` (GitLab) */
  conditions: Record<string, string[]>;
  /** Role of the pipeline: `analyst` to import reports, `viewer` to read */
  role: 'analyst' | 'viewer';
  /** The only asset that the pipeline may import reports for and read findings of. null: no limit */
  asset_id: string | null;
  /** Name of the person or key that created it */
  created_by: string;
  /** Version of the object, also its ETag. Each change increases it by 1 */
  version: number;
  /** When the object was created */
  created_at: string;
  /** When the object was last changed */
  updated_at: string;
};

export type PipelineTrustCreate = {
  /** Display name. Imports and the audit trail show it */
  name: string;
  /** Issuer of the tokens, exactly as their claim `iss` names it. GitHub Actions: `https://token.actions.githubusercontent.com`. GitLab: the URL of the instance */
  issuer: string;
  /** Claims that a token must have, each with the values that are allowed. All claims must match. `*` stands for one or more characters other than `/` and `:`, and must not be at the beginning of a value. At least one claim must say whose pipeline it is, such as `repository` (GitHub) or `project_path` (GitLab) */
  conditions: Record<string, string[]>;
  /** Role of the pipeline: `analyst` to import reports, `viewer` to read */
  role: 'analyst' | 'viewer';
  /** The only asset that the pipeline may import reports for and read findings of. null: no limit */
  asset_id?: string | null;
};

export type PipelineTrustList = {
  /** The items of this page */
  data: PipelineTrust[];
  page: Page;
};

export type PipelineTrustPatch = {
  /** Display name. Imports and the audit trail show it */
  name?: string;
  /** Issuer of the tokens, exactly as their claim `iss` names it. GitHub Actions: `https://token.actions.githubusercontent.com`. GitLab: the URL of the instance */
  issuer?: string;
  /** Claims that a token must have, each with the values that are allowed. All claims must match. `*` stands for one or more characters other than `/` and `:`, and must not be at the beginning of a value. At least one claim must say whose pipeline it is, such as `repository` (GitHub) or `project_path` (GitLab) */
  conditions?: Record<string, string[]>;
  /** Role of the pipeline: `analyst` to import reports, `viewer` to read */
  role?: 'analyst' | 'viewer';
  /** The only asset that the pipeline may import reports for and read findings of. null: no limit */
  asset_id?: string | null;
};

/** Rules for imports, deadlines, risk acceptance and retention */
export type Policy = {
  sla: SlaPolicy;
  /** Whether decisions require a second person. Accepting a risk is then a request that somebody else must approve, and nobody can approve a work item that they took part in. Default: false */
  four_eyes: boolean;
  brake: Brake;
  /** Branches and environments whose findings count, in addition to the well-known ones such as `main`, `prod` and `release-1.4`. `*` stands for any text. Findings of other branches are kept apart like those of pull requests. Default: none */
  track_names: string[];
  /** Days without a scan after which tracks of pull requests and branches in development end. Default: 30 */
  track_days: number;
  /** Sources whose severity counts, the most trusted first, by `tool` or `provider` as in `GET /sources`. The first one decides that still sees a finding and knows its severity. Without one, the highest severity counts. Default: none */
  source_ranking: string[];
  /** Compliance frameworks whose controls evidence packages address. Default: none chosen, which means all of them */
  frameworks: ('SOC 2' | 'ISO/IEC 27001:2022' | 'PCI DSS 4.0.1' | 'NIST SP 800-53 r5' | 'FedRAMP')[];
  retention: RetentionPolicy;
};

/** Changes to the policy. null restores the default, except for the days of the SLA, where null means no deadline */
export type PolicyPatch = {
  /** Days to remediate by severity. null restores all defaults */
  sla?: {
    /** Days to remediate a finding of critical severity. null: no deadline. Default: 15 */
    critical?: number | null;
    /** Days to remediate a finding of high severity. null: no deadline. Default: 30 */
    high?: number | null;
    /** Days to remediate a finding of medium severity. null: no deadline. Default: 90 */
    medium?: number | null;
    /** Days to remediate a finding of low severity. null: no deadline. Default: 180 */
    low?: number | null;
    /** Days to remediate a finding of informational severity. null: no deadline. Default: null */
    info?: number | null;
    /** Days to remediate a finding of unknown severity. null: no deadline. Default: 90 */
    unknown?: number | null;
    /** Days to remediate a finding with a known exploited vulnerability (CISA KEV). The deadline of the severity applies if it is shorter. null: no deadline. Default: 14 */
    kev?: number | null;
  } | null;
  /** Whether decisions require a second person. Accepting a risk is then a request that somebody else must approve, and nobody can approve a work item that they took part in. Default: false */
  four_eyes?: boolean | null;
  /** Limits above which an import waits for confirmation. null restores the defaults */
  brake?: {
    /** Share of the source's open findings, from 0 to 1. Default: 0.2 */
    share?: number | null;
    /** Number of findings. Default: 50 */
    count?: number | null;
  } | null;
  /** Branches and environments whose findings count, in addition to the well-known ones such as `main`, `prod` and `release-1.4`. `*` stands for any text. Findings of other branches are kept apart like those of pull requests. Default: none */
  track_names?: string[] | null;
  /** Days without a scan after which tracks of pull requests and branches in development end. Default: 30 */
  track_days?: number | null;
  /** Sources whose severity counts, the most trusted first, by `tool` or `provider` as in `GET /sources`. The first one decides that still sees a finding and knows its severity. Without one, the highest severity counts. Default: none */
  source_ranking?: string[] | null;
  /** Compliance frameworks whose controls evidence packages address. Default: none chosen, which means all of them */
  frameworks?: ('SOC 2' | 'ISO/IEC 27001:2022' | 'PCI DSS 4.0.1' | 'NIST SP 800-53 r5' | 'FedRAMP')[] | null;
  /** Days to keep what grows. null restores the defaults */
  retention?: {
    /** Days to keep the files of uploaded reports, counted from the upload. Default: 1095 */
    report_days?: number | null;
    /** Days to keep runs of connections and the records of what they collected. The last successful run of a connection is kept. Default: 365 */
    run_days?: number | null;
    /** Days to keep deliveries to webhooks with their responses. Default: 30 */
    delivery_days?: number | null;
    /** Days to keep events, for the event stream and for replays. Events that are still to be delivered are kept. Default: 90 */
    event_days?: number | null;
  } | null;
};

/** Any JSON object of at most 16,384 bytes, such as the theme and the density of lists */
export type Preferences = Record<string, unknown>;

/** RFC 9457 problem details */
export type Problem = {
  /** Short summary of the kind of problem */
  title: string;
  /** URL of a page that explains this kind of problem */
  type: string;
  /** HTTP status code */
  status: number;
  /** What is wrong with this request, and what to do */
  detail: string;
  /** Path of the request */
  instance: string;
  /** Stable code of the kind of problem, for programs */
  code: ProblemCode;
  /** ID of the request, as in the `X-Request-Id` header and in the log */
  request_id: string;
  /** All errors of the request, at most 100. Only present for validation problems */
  errors?: {
    /** Part of the request that contains the error */
    in: 'body' | 'query' | 'path' | 'header';
    /** JSON pointer to the error in that part */
    path: string;
    /** Stable code of the error, for programs */
    code: string;
    /** What is wrong, and what is allowed */
    detail: string;
  }[];
};

export type ProblemCode =
  | 'malformed_request'
  | 'validation_failed'
  | 'invalid_cursor'
  | 'unauthenticated'
  | 'invalid_credentials'
  | 'cross_site_request'
  | 'password_change_required'
  | 'forbidden'
  | 'not_found'
  | 'method_not_allowed'
  | 'not_acceptable'
  | 'request_timeout'
  | 'conflict'
  | 'invalid_transition'
  | 'last_owner'
  | 'gone'
  | 'stale_version'
  | 'payload_too_large'
  | 'unsupported_media_type'
  | 'range_not_satisfiable'
  | 'unprocessable'
  | 'import_failed'
  | 'idempotency_key_reused'
  | 'rate_limited'
  | 'headers_too_large'
  | 'internal_error'
  | 'busy'
  | 'unavailable';

export type ReasonCode =
  | 'by_person'
  | 'by_connection'
  | 'scan_absent'
  | 'scan_seen_again'
  | 'scan_unable'
  | 'source_fixed'
  | 'source_retracted'
  | 'source_retired'
  | 'check_retired'
  | 'new_occurrence'
  | 'regression'
  | 'risk_increased'
  | 'acceptance_approved'
  | 'acceptance_expired'
  | 'acceptance_fixed'
  | 'acceptance_resumed'
  | 'decision_resumed'
  | 'asset_retired'
  | 'asset_gone'
  | 'asset_listed'
  | 'track_ended'
  | 'track_unmerged'
  | 'asset_unmerged'
  | 'merged'
  | 'split';

export type ReportFormat =
  | 'aws_inspector2'
  | 'aws_security_hub'
  | 'bandit'
  | 'burp'
  | 'checkov'
  | 'clair'
  | 'cyclonedx'
  | 'defectdojo_generic'
  | 'dependency_check'
  | 'github'
  | 'gitlab'
  | 'gitleaks'
  | 'grype'
  | 'hadolint'
  | 'kube_bench'
  | 'nessus'
  | 'nexpose'
  | 'nmap'
  | 'npm_audit'
  | 'nuclei'
  | 'openvas'
  | 'openvex'
  | 'osv_scanner'
  | 'prowler'
  | 'qualys'
  | 'retire_js'
  | 'rrs_csv'
  | 'rrs_ndjson'
  | 'sarif'
  | 'semgrep'
  | 'snyk'
  | 'sonarqube'
  | 'tfsec'
  | 'trivy'
  | 'trivy_operator'
  | 'zap'
  | 'generic';

/** Requests to the vendor */
export type RequestErrorRates = {
  last_24h: ErrorRate;
  last_7d: ErrorRate;
};

/** How long the service keeps what would otherwise grow without limit. It deletes the rest once a day. Imports with their counts, findings, evidence packages, the files they contain and the audit trail are always kept. A package that is generated after a report file was deleted states the hash of the file, but cannot contain it */
export type RetentionPolicy = {
  /** Days to keep the files of uploaded reports, counted from the upload. Default: 1095 */
  report_days: number;
  /** Days to keep runs of connections and the records of what they collected. The last successful run of a connection is kept. Default: 365 */
  run_days: number;
  /** Days to keep deliveries to webhooks with their responses. Default: 30 */
  delivery_days: number;
  /** Days to keep events, for the event stream and for replays. Events that are still to be delivered are kept. Default: 90 */
  event_days: number;
};

export type Risk = {
  /** Risk from 0 to 100 */
  score: number;
  /** Version of the risk model. docs/risk.md explains it */
  model: string;
  /** How the score is computed. The points add up to it */
  factors: RiskFactor[];
};

export type RiskFactor = {
  /** Factor of the model */
  name: 'severity' | 'exploitation_likelihood' | 'known_exploited' | 'asset_criticality' | 'asset_exposure';
  /** Input of the factor */
  input: string;
  /** The input as a number from 0 to 1 */
  value: number;
  /** Most points that the factor can add */
  weight: number;
  /** Points that the factor adds: value times weight, rounded to one decimal */
  points: number;
  /** Where the input comes from */
  source: string | null;
  /** Date or version of the source, such as the date of an EPSS score */
  date: string | null;
};

export type Role = 'owner' | 'admin' | 'analyst' | 'viewer' | 'auditor';

/** Runs. Partial runs count as failed */
export type RunErrorRates = {
  last_24h: ErrorRate;
  last_7d: ErrorRate;
};

/** Duration of the runs of the last 7 days */
export type RunSeconds = {
  /** Median in seconds */
  median: number | null;
  /** 95th percentile in seconds */
  p95: number | null;
};

export type RunStatus = 'queued' | 'running' | 'succeeded' | 'partial' | 'failed' | 'cancelled' | 'needs_confirmation';

export type SameBuild = {
  /** The asset that the build belongs to */
  asset: {
    /** ID (UUIDv7) */
    id: string;
    /** Name of the asset */
    name: string;
  };
  /** Tag of the build */
  name: string;
  /** The track that the build belongs to */
  track: string;
};

export type ScanScope = {
  /** From where the scan looked at its targets: `internal` from inside the network, `external` from outside. PCI DSS tells them apart */
  vantage?: 'internal' | 'external';
  /** `complete`: findings that the report no longer shows on the assets it covers are closed. `partial`: nothing is closed. Default: `partial` */
  coverage?: 'complete' | 'partial';
  /** The build that was scanned: a tag, release or commit, or the digest of an image, also behind its tag */
  version?: string;
  /** The branch, environment or release line that was scanned. Findings of one track are never closed by scans of another */
  track?: string;
  /** Pull requests and branches of the asset that have been merged or closed, as the pipeline names them. Their tracks end, which proves nothing about their findings. Tracks whose findings count do not end: `DELETE /assets/{id}/tracks/{name}` ends those */
  ended_tracks?: string[];
  /** The part of a repository that was scanned, such as one lock file. Only findings of scans of the same part are closed. Paths in the report are relative to it, unless they begin with it. `.` says that all of it was scanned */
  path?: string;
  /** Kinds of findings that the tool looked for, if the report does not show it. Trivy does not mention secrets if it finds none, so its last secret is closed only with this statement. `known` says that a report has all findings, although it calls all of them new since a baseline, `suppressed` that it has those that the tool was told to ignore. Evidence packages name it as a statement of the uploader */
  looked_for?: ('secrets' | 'misconfigurations' | 'licenses' | 'known' | 'suppressed')[];
  /** Further assets that the scan covered, even if it found nothing there */
  assets?: {
    /** Type of the asset */
    type: AssetType;
    /** Text with at least one visible character */
    name: string;
  }[];
  /** Name of the scan, for example of a pipeline or team. Separates several scans with one tool */
  name?: string;
  /** When the scan began, if the report does not state it. Default: the time of the upload */
  started_at?: string;
  /** What the report is about. Takes precedence over what a report about one asset calls it. The name of a host means the one that is shown under it. Required if the report does not name its asset. `unspecified`: the report is about something without a name */
  asset?:
    | {
        /** Type of the asset */
        type: AssetType;
        /** Text with at least one visible character */
        name: string;
      }
    | 'unspecified';
};

export type SearchHit = {
  /** Name or title */
  title: string;
  /** ID (UUIDv7) */
  id: string;
  /** What tells it from others of its kind: the asset of a finding, the type of an asset, a status or a provider */
  hint: string;
};

export type SearchResult = {
  /** Findings, highest risk first */
  findings: SearchHit[];
  /** Assets whose name or owner contains the text */
  assets: SearchHit[];
  /** Work items with all words, newest first */
  work_items: SearchHit[];
  /** Evidence packages of work items whose title contains the text, newest first */
  packages: SearchHit[];
  /** Connections whose name contains the text */
  connections: SearchHit[];
};

export type SeenBuild = {
  /** The branch, environment or release line of the asset. `default` until it has a name */
  track: string;
  /** Tag, release or commit of the build */
  name: string;
  /** Digest of the image */
  digest: string | null;
  /** Commit of the repository */
  commit: string | null;
};

export type Service = {
  /** Version of the service */
  version: string;
  /** Current time of the service */
  time: string;
  sign_in: SignInMethods;
  limits: ServiceLimits;
  /** Whether the first owner still has to be created, with the setup key (`POST /setup`) */
  setup_required: boolean;
  /** Path of the API documentation */
  documentation_url: string;
};

/** Limits that the operator has configured */
export type ServiceLimits = {
  /** Maximum size of a JSON body, in bytes */
  body_bytes: number;
  /** Maximum size of a report file, in bytes */
  report_bytes: number;
  /** Maximum size of an artifact, in bytes */
  artifact_bytes: number;
};

export type Session = {
  /** ID (UUIDv7) */
  id: string;
  /** How the member signed in */
  method: 'password' | 'oidc';
  /** Whether this request uses the session */
  current: boolean;
  /** IP address from which the member signed in */
  address: string | null;
  /** Browser with which the member signed in */
  user_agent: string | null;
  /** When the member signed in */
  created_at: string;
  /** When the session expires */
  expires_at: string;
};

export type SessionCreate = {
  /** E-mail address, stored in lower case */
  email: string;
  /** Current password */
  password: string;
  /** Slug of the organization. Required only if you are a member of several with the same password */
  organization?: string;
};

export type SessionList = {
  /** The newest sessions, at most 100 */
  data: Session[];
};

export type SettableWorkItemStatus = 'open' | 'in_progress' | 'blocked' | 'awaiting_verification' | 'cancelled';

export type Setup = {
  /** Setup key that the first start of the service printed */
  key: string;
  /** E-mail address, stored in lower case */
  email: string;
  /** Display name, with at least one visible character */
  name: string;
  /** Password, 12 to 200 characters. It is stored as an Argon2id hash */
  password: string;
};

export type Severity = 'critical' | 'high' | 'medium' | 'low' | 'info' | 'unknown';

export type ShareLink = {
  /** Id of the share link. */
  id: string;
  /** Id of the evidence package. */
  package_id: string;
  /** Who the link is for. Download receipts name the recipient. */
  recipient: string;
  /** Only active links work. A link that is used up still shows the package until it expires, but refuses downloads. */
  status: 'active' | 'used_up' | 'expired' | 'revoked';
  created_by: EvidencePerson;
  /** When the link was created. */
  created_at: string;
  /** When the link expires. */
  expires_at: string;
  /** When the link was revoked. Null if it was not. */
  revoked_at: string | null;
  /** Number of downloads with this link. Each request for a file counts. A range request does not count if the same address started to download the same format with the link within the last hour. */
  downloads: number;
  /** Number of downloads that the link allows. Null if there is no limit. */
  max_downloads: number | null;
  /** Number of downloads that are left. Null if there is no limit. */
  remaining_downloads: number | null;
  /** When a download with the link last began. Null if never. */
  last_download_at: string | null;
};

export type ShareLinkCreated = {
  /** Id of the share link. */
  id: string;
  /** Id of the evidence package. */
  package_id: string;
  /** Who the link is for. Download receipts name the recipient. */
  recipient: string;
  /** Only active links work. A link that is used up still shows the package until it expires, but refuses downloads. */
  status: 'active' | 'used_up' | 'expired' | 'revoked';
  created_by: EvidencePerson;
  /** When the link was created. */
  created_at: string;
  /** When the link expires. */
  expires_at: string;
  /** When the link was revoked. Null if it was not. */
  revoked_at: string | null;
  /** Number of downloads with this link. Each request for a file counts. A range request does not count if the same address started to download the same format with the link within the last hour. */
  downloads: number;
  /** Number of downloads that the link allows. Null if there is no limit. */
  max_downloads: number | null;
  /** Number of downloads that are left. Null if there is no limit. */
  remaining_downloads: number | null;
  /** When a download with the link last began. Null if never. */
  last_download_at: string | null;
  /** The link to a page that shows the package and verifies it in the browser. It cannot be retrieved again. */
  url: string;
  /** The same link for programs: `GET /riskops-evidence/shared/{token}`. It cannot be retrieved again. */
  api_url: string;
};

export type ShareLinkList = {
  /** The items of this page */
  data: ShareLink[];
  page: Page;
};

export type SharedEvidencePackage = {
  /** Name of the organization that shared the package. */
  organization: string;
  /** Who the link is for. Download receipts name the recipient. */
  recipient: string;
  /** When the link expires. */
  expires_at: string;
  /** Number of downloads that are left. Null if there is no limit. */
  remaining_downloads: number | null;
  /** Id of the evidence package. */
  package_id: string;
  /** Id of the work item. */
  work_item_id: string;
  /** Title of the work item when the package was requested. */
  work_item_title: string;
  /** Number of the package within the work item, from 1. */
  sequence: number;
  /** Conclusion, computed from the states of the findings. Null until the package is ready. */
  conclusion: Conclusion | null;
  /** How complete the evidence is. Null until the package is ready. */
  completeness: {
    /** A: no gaps. B: minor gaps only. C: one kind of major gap. D: several kinds. */
    grade: Grade;
    /** What the package lacks. */
    gaps: EvidenceGap[];
  } | null;
  /** What the package contains. Null until it is ready. */
  counts: {
    /** Number of findings. */
    findings: number;
    /** Number of artifacts. */
    artifacts: number;
    /** Number of scans. */
    scans: number;
  } | null;
  /** Hashes that identify the package. Null until it is ready. */
  hashes: {
    /** SHA-256 of the ZIP file in hexadecimal. */
    archive_sha256: string;
    /** SHA-256 of `manifest-sha256.txt` in hexadecimal. */
    manifest_sha256: string;
    /** SHA-256 of `tagmanifest-sha256.txt` in hexadecimal. */
    tagmanifest_sha256: string;
    /** Leaf hash of the entry in the transparency log in hexadecimal. */
    log_leaf_sha256: string;
  } | null;
  /** Key that signed the package. `GET /riskops-evidence/keys` lists the keys. Null until the package is ready. */
  signature: {
    /** Id of the signing key. */
    key_id: string;
    /** Signature algorithm. */
    algorithm: string;
  } | null;
  /** Entry in your organization's transparency log. Null until the package is ready. */
  log: {
    /** Index of the entry, from 0. */
    index: number;
    /** Number of entries after the entry was appended. */
    tree_size: number;
    /** Root hash of that tree in hexadecimal. */
    root_hash: string;
  } | null;
  /** RFC 3161 timestamps in the ZIP file. Empty if no time-stamping authority is configured or none answered. */
  timestamps: {
    /** Path in the ZIP file. */
    file: string;
  }[];
  /** Available downloads. Empty until the package is ready. */
  downloads: EvidenceDownload[];
  /** Time of the snapshot that the package describes. Null until the package is ready. */
  as_of: string | null;
  /** When the package was generated. Null until the package is ready. */
  generated_at: string | null;
  /** Why the package is no longer current. It still verifies for its date. Null unless superseded. */
  superseded: {
    /** When the package was superseded. */
    at: string;
    /** Id of the package that replaced it, if there is one. */
    by: string | null;
    /** Why it was superseded. */
    reason: string;
  } | null;
  keys: EvidenceKeysHint;
};

export type Sighting = {
  source: Source;
  /** The branch, environment or release line of the asset. `default` until it has a name */
  track: string;
  /** Whether the source still sees it. `unknown`: the source was retired or the track has ended, so nothing more will be said */
  state: 'present' | 'absent' | 'unknown';
  /** Why the source no longer sees the finding. `gone`: a scan that would have seen it did not. `retracted`: it disappeared although what was scanned has not changed. `declared`: the source states that it is fixed. `check_retired`: the tool no longer has the check. `asset_gone`, `track_ended`: two complete runs of the source no longer list the asset, or its branch or environment. null while it is present */
  absence: 'gone' | 'retracted' | 'declared' | 'check_retired' | 'asset_gone' | 'track_ended' | null;
  /** Time of the scan that no longer showed the finding */
  absent_at: string | null;
  /** What weakens the proof that the finding is gone: what the scan that no longer showed it does not state, or that the source was retired while it saw the finding. Empty while the finding is present */
  gaps: {
    /** The gap, for programs */
    code:
      | 'identity_weak'
      | 'time_unstated'
      | 'credentials_unstated'
      | 'knowledge_unstated'
      | 'checks_unstated'
      | 'search_unstated'
      | 'part_unstated'
      | 'source_retired';
    /** The gap, in words */
    sentence: string;
  }[];
  /** The last complete scan that did not report the finding although this proves nothing. null if a scan has reported it since */
  missed: {
    /** Time of the scan */
    at: string;
    /** The import of the scan */
    import_id: string | null;
    /** Why this does not prove that the finding is gone */
    because: {
      /** The reason, for programs */
      code: StillOpenCode;
      /** The reason, in words */
      sentence: string;
    }[];
  } | null;
  /** The source's own id of the finding */
  external_id: string | null;
  /** Severity according to this source */
  severity: Severity;
  /** Severity in the source's own words */
  tool_severity: string | null;
  /** Whether the source suppresses the finding */
  suppressed: boolean;
  /** What this source says. The finding itself combines what all sources say that still see it */
  reported: {
    /** Short description of the weakness */
    title: string;
    /** Severity */
    severity: Severity;
    /** Who rated the severity, if it is not the tool itself */
    severity_source: string | null;
    /** CVE and other public ids */
    vulnerability_ids: string[];
    /** CWE numbers */
    cwes: number[];
    /** CVSS rating of the most recent CVSS version that is known */
    cvss: {
      /** CVSS version */
      version: string | null;
      /** CVSS vector. `null` if the sources state only a score */
      vector: string | null;
      /** Base score from 0 to 10, computed from the vector if there is one */
      score: number;
    } | null;
    /** EPSS score from FIRST */
    epss: {
      /** Probability of exploitation in the next 30 days, from 0 to 1 */
      score: number;
      /** Share of all vulnerabilities with a lower or equal score, from 0 to 1 */
      percentile: number | null;
      /** Date of the score */
      date: string | null;
    } | null;
    /** How far exploits have developed, according to the sources */
    exploit_maturity: ExploitMaturity | null;
    /** Whether there is a fix, according to the sources */
    fix_state: FixState | null;
    /** Day on which a fix was published */
    fix_published_date: string | null;
    /** Package or product */
    component: string | null;
    /** Installed version of the component */
    version: string | null;
    /** First version without the weakness. Several versions are separated by ", " */
    fixed_version: string | null;
    /** File, with "/" as separator */
    path: string | null;
  };
  /** When the source first saw the finding */
  first_seen: string;
  /** When the source last saw the finding */
  last_seen: string;
  /** The last import that updated this entry or, if the finding is gone, the one that no longer showed it */
  last_import_id: string | null;
};

/** Ways in which members can sign in */
export type SignInMethods = {
  /** Whether members can sign in with e-mail and password (`POST /sessions`) */
  password: boolean;
  /** Sign-in at the identity provider. null: not configured */
  oidc: {
    /** Host name of the identity provider, for the button */
    name: string;
    /** Path to send the browser to */
    start_url: string;
  } | null;
};

/** Days to remediate a finding, by severity, counted from the time it was first seen */
export type SlaPolicy = {
  /** Days to remediate a finding of critical severity. null: no deadline. Default: 15 */
  critical: number | null;
  /** Days to remediate a finding of high severity. null: no deadline. Default: 30 */
  high: number | null;
  /** Days to remediate a finding of medium severity. null: no deadline. Default: 90 */
  medium: number | null;
  /** Days to remediate a finding of low severity. null: no deadline. Default: 180 */
  low: number | null;
  /** Days to remediate a finding of informational severity. null: no deadline. Default: null */
  info: number | null;
  /** Days to remediate a finding of unknown severity. null: no deadline. Default: 90 */
  unknown: number | null;
  /** Days to remediate a finding with a known exploited vulnerability (CISA KEV). The deadline of the severity applies if it is shorter. null: no deadline. Default: 14 */
  kev: number | null;
};

export type Source = {
  /** ID (UUIDv7) */
  id: string;
  /** Uploaded reports, a connection, or a person */
  kind: 'import' | 'connection' | 'manual';
  /** Report format or provider of the connection. `manual` for people */
  provider: string;
  /** The tool that wrote the report, for formats that many tools write (SARIF, CycloneDX). Otherwise empty */
  tool: string;
  /** Name of the scan, which separates several scans with one tool. Otherwise empty */
  name: string;
  /** The connection that the source belongs to */
  connection_id: string | null;
};

export type SourceDetails = {
  /** ID (UUIDv7) */
  id: string;
  /** Uploaded reports, a connection, or a person */
  kind: 'import' | 'connection' | 'manual';
  /** Report format or provider of the connection. `manual` for people */
  provider: string;
  /** The tool that wrote the report, for formats that many tools write (SARIF, CycloneDX). Otherwise empty */
  tool: string;
  /** Name of the scan, which separates several scans with one tool. Otherwise empty */
  name: string;
  /** The connection that the source belongs to */
  connection_id: string | null;
  /** The part of a repository that the scans cover. Otherwise empty */
  path: string;
  /** Time of the first scan */
  first_scan: string | null;
  /** Time of the last scan */
  last_scan: string | null;
  /** How many active findings the source still sees */
  open_findings: number;
  /** Whether the source has scanned nothing for 45 days. Nothing is closed because of it */
  stale: boolean;
  /** When the source was retired */
  retired_at: string | null;
  /** Who retired the source */
  retired_by: string | null;
  /** Why the source was retired */
  retired_reason: string | null;
  /** When the source was first used */
  created_at: string;
};

export type SourceList = {
  /** The items of this page */
  data: SourceDetails[];
  page: Page;
};

export type SourceRetirement = {
  /** Why the source is retired */
  reason: string;
};

/** How old the data is */
export type Staleness = {
  /** Seconds since the last successful run */
  seconds_since_success: number | null;
  /** Scheduled interval in minutes. 5 for ticketing with linked tickets */
  every_minutes: number | null;
  /** Whether two intervals have passed without a successful run */
  stale: boolean;
};

export type StillOpenCode =
  | 'still_reported'
  | 'no_complete_scan'
  | 'closure_withheld'
  | 'reported_by_person'
  | 'scan_before_claim'
  | 'declared_fixed'
  | 'partially_covered'
  | 'track_unstated'
  | 'asset_unspecified'
  | 'time_unstated'
  | 'time_suspect'
  | 'inventory_only'
  | 'not_read'
  | 'not_credentialed'
  | 'knowledge_older'
  | 'check_disabled'
  | 'hidden_by_comment'
  | 'only_new'
  | 'suppressed_before'
  | 'platform_other'
  | 'address_other'
  | 'part_other'
  | 'seen_since'
  | 'version_older'
  | 'scan_narrower';

export type StillOpenReason = {
  source: Source;
  /** The branch, environment or release line of the asset. `default` until it has a name */
  track: string;
  /** The reason, for programs */
  code: StillOpenCode;
  /** The reason, in words */
  sentence: string;
  /** Whether the source has not scanned the branch or environment for 45 days. It may have been switched off. Nothing is closed because of it */
  stale: boolean;
  /** The import that the reason is about */
  import_id: string | null;
  /** Time of the scan that the reason is about */
  at: string;
};

export type Suggestions = {
  /** Values of the filter, in alphabetical order */
  data: string[];
};

export type SyncAllEntry = {
  /** Id of the connection (UUIDv7) */
  connection_id: string;
  /** Display name of the connection */
  name: string;
  /** Provider id from the catalog */
  provider: string;
  /** The queued run */
  run_id: string | null;
  /** Why no run was queued */
  reason: 'already_running' | 'paused' | null;
};

export type SyncAllResult = {
  /** One entry per scanner connection */
  data: SyncAllEntry[];
  /** Number of runs queued */
  queued: number;
};

/** Results of the run */
export type SyncCounts = {
  /** Records received */
  received: number;
  /** Findings created */
  created: number;
  /** Findings updated */
  updated: number;
  /** Findings seen again without a change */
  unchanged: number;
  /** Findings reopened */
  reopened: number;
  /** Records that could not be read */
  rejected: number;
  /** Findings closed because the run no longer saw them */
  closed: number;
  /** Vulnerabilities with new data. Enrichment only */
  learned: number;
};

/** How far the run has got */
export type SyncProgress = {
  /** Pages fetched so far */
  pages: number;
  /** Records fetched so far */
  records: number;
};

/** Requests to the vendor */
export type SyncRequests = {
  /** Requests sent */
  made: number;
  /** Requests that failed */
  failed: number;
  /** Bytes received */
  bytes: number;
};

export type SyncRun = {
  /** Id of the run (UUIDv7) */
  id: string;
  /** Id of the connection (UUIDv7) */
  connection_id: string;
  /** What started the run */
  trigger: 'manual' | 'schedule' | 'sync_all';
  /** `full`: fetches everything, and a complete run closes findings that are missing. `changes`: fetches changes since the previous run */
  mode: 'full' | 'changes';
  /** `partial` and `failed` runs close nothing. `needs_confirmation`: the run would close unusually many findings, or some that were last seen with other settings of the connection, and waits for your decision */
  status: RunStatus;
  progress: SyncProgress;
  counts: SyncCounts;
  requests: SyncRequests;
  /** Import of the collected records, with its rejected records and the stored file */
  import_id: string | null;
  /** Why the run failed or is partial */
  error: {
    /** Cause of the error. `invalid_answer`: the vendor sent an unexpected response. `service`: internal error */
    kind: 'credentials' | 'configuration' | 'rate_limited' | 'unavailable' | 'invalid_answer' | 'incomplete' | 'service';
    /** What is wrong and what to do */
    message: string;
  } | null;
  /** Remarks about the run */
  notes: string[];
  /** Date of the vulnerability data in the vendor's notation. Enrichment only */
  knowledge_as_of: string | null;
  /** Who or what requested the run */
  requested_by: string;
  /** When the run was queued */
  created_at: string;
  /** When the run started */
  started_at: string | null;
  /** When the run ended */
  finished_at: string | null;
};

export type SyncRunList = {
  /** The items of this page */
  data: SyncRun[];
  page: Page;
};

export type SyncStatus = 'never' | 'queued' | 'running' | 'ok' | 'partial' | 'failing' | 'paused';

export type TagCount = {
  /** The tag */
  name: string;
  /** Findings that have the tag */
  findings: number;
  /** Assets that have the tag */
  assets: number;
};

export type Tags = {
  /** Tags in alphabetical order */
  data: TagCount[];
};

export type TestedRequest = {
  /** When the request was sent */
  at: string;
  /** HTTP method */
  method: string;
  /** URL without secrets */
  url: string;
  /** HTTP status. null if there was no response */
  status: number | null;
  /** Size of the response body in bytes */
  bytes: number;
  /** SHA-256 of the response body, hexadecimal */
  sha256: string | null;
  /** Why the request failed */
  error: string | null;
};

export type Ticket = {
  /** Id of the ticket link (UUIDv7) */
  id: string;
  /** Id of the work item (UUIDv7) */
  work_item_id: string;
  connection: TicketConnection;
  /** `pushing`: the ticket is being created. `linked`: in sync, except for what `problems` lists. `failed`: the last attempt failed, see `error`; it is retried automatically. `paused`: too many writes within an hour; nothing is written until you repair the ticket */
  status: 'pushing' | 'linked' | 'failed' | 'paused';
  /** The vendor's key of the ticket */
  key: string | null;
  /** Link to the ticket */
  url: string | null;
  /** State when last read. `done` moves the work item to `awaiting_verification`, never further */
  state: TicketState | null;
  /** The vendor's name of the state */
  state_name: string | null;
  /** Assignee of the ticket at the vendor */
  assignee: string | null;
  /** Why the ticket is out of sync. Empty if it is in sync */
  problems: ('differs' | 'gone' | 'paused' | 'failed' | 'unread' | 'duplicated')[];
  /** Fields in which work item and ticket differ */
  drift: TicketDrift[];
  /** Other tickets of the vendor that carry the marker of this one, for example copies. The service does not sync them. A repair clears the list */
  duplicates: TicketDuplicate[];
  /** Why the ticket is paused */
  paused_reason: string | null;
  /** Error of the last attempt or poll */
  error: {
    /** Cause of the error, as in `RunError` */
    kind: string;
    /** What is wrong and what to do */
    message: string;
  } | null;
  /** When a failed ticket is retried */
  retry_at: string | null;
  /** Direction of a repair that is requested and not finished */
  repairing: 'push' | 'pull' | null;
  /** When the ticket was last read */
  read_at: string | null;
  /** When the ticket was last written */
  written_at: string | null;
  /** Who pushed the work item */
  created_by: string;
  /** When the work item was pushed */
  created_at: string;
  /** When the link last changed */
  updated_at: string;
};

/** The ticketing connection */
export type TicketConnection = {
  /** Id of the connection (UUIDv7) */
  id: string;
  /** Name of the connection */
  name: string;
  /** Provider id from the catalog */
  provider: string;
};

export type TicketCreate = {
  /** Id of a connection of kind `ticketing` */
  connection_id: string;
};

export type TicketDrift = {
  /** Field that differs */
  field: 'title' | 'priority' | 'due_date' | 'state';
  /** Value of the work item */
  ours: string | null;
  /** Value of the ticket */
  theirs: string | null;
  /** Why the work item did not follow the ticket, if known */
  reason: string | null;
};

export type TicketDuplicate = {
  /** The vendor's key of the other ticket */
  key: string;
  /** Link to the other ticket */
  url: string | null;
};

export type TicketList = {
  /** The items of this page */
  data: Ticket[];
  page: Page;
};

export type TicketRepair = {
  /** `push`: overwrite the ticket with the work item. `pull`: overwrite the work item with the ticket */
  direction: 'push' | 'pull';
};

export type TicketState = 'open' | 'in_progress' | 'done' | 'rejected';

export type TimelineEntry = {
  /** Id of the entry (UUIDv7) */
  id: string;
  /** When it happened */
  occurred_at: string;
  /** Who did it */
  actor: {
    /** Kind of actor: `member`, `api_key`, `oidc` or `system` */
    type: string;
    /** Id of the actor */
    id: string | null;
    /** Name of the actor at that time */
    name: string;
  };
  /** The person behind the actor. null for scans, connections and the service itself */
  person: {
    /** Id of the member. If no member stands behind the credential: id of the API key, or subject of the access token */
    id: string;
    /** Name of the person */
    name: string;
  } | null;
  /** What happened */
  action: string;
  /** What it happened to */
  object: {
    /** Kind of object */
    type: 'work_item' | 'finding';
    /** Id of the object (UUIDv7) */
    id: string;
  };
  /** Changed fields before the change */
  before: Record<string, unknown> | null;
  /** Changed fields after the change */
  after: Record<string, unknown> | null;
  /** Reason that was given */
  reason: string | null;
  /** The import that changed the finding */
  import_id: string | null;
};

export type TimelineList = {
  /** The items of this page */
  data: TimelineEntry[];
  page: Page;
};

export type Track = {
  /** Name of the track: a branch, environment or release line. `default` until a scan or a person names it */
  name: string;
  /** What the name says: the `default` track, an environment or listed branch (`named`), a `release` line, a `build`, a `pull_request`, or another branch in `development` */
  kind: 'default' | 'named' | 'release' | 'build' | 'pull_request' | 'development';
  /** Whether scans that name no track belong to it */
  default: boolean;
  /** Whether its findings are listed, counted and due. Not those of pull requests and branches in development */
  counts: boolean;
  /** When the track ended */
  ended_at: string | null;
  /** Who ended the track */
  ended_by: string | null;
  /** Why the track ended */
  ended_reason: string | null;
};

export type TrackList = {
  /** The items of this page */
  data: Track[];
  page: Page;
};

export type TrackMerge = {
  /** Name of the track that stays */
  into: string;
  /** Why the two are one */
  reason?: string;
};

export type TrackPatch = {
  /** Name of the track: a branch, environment or release line. `default` until a scan or a person names it */
  name: string;
};

export type TrackUnmerge = {
  /** Why the two are different */
  reason?: string;
};

export type View = {
  /** Id of the view (UUIDv7) */
  id: string;
  /** The list that the view is of */
  list: 'findings' | 'work_items' | 'assets';
  /** Name of the view. Unique in its list and scope, ignoring case */
  name: string;
  /** Query parameters of the list, URL-encoded, as in the address of the list. Empty: no filter */
  query: string;
  /** The columns that are shown, in their order. Empty: the default */
  columns: string[];
  /** Sort key of the list. `null`: its default */
  sort: string | null;
  /** `mine`: only you see the view. `organization`: everybody in your organization does */
  scope: 'mine' | 'organization';
  /** Place among the views, in ascending order */
  position: number;
  /** Who created the view */
  created_by: string;
  /** Increases with each change. Also the ETag */
  version: number;
  /** When the view was created */
  created_at: string;
  /** When the view was last changed */
  updated_at: string;
};

export type ViewCreate = {
  /** The list that the view is of */
  list: 'findings' | 'work_items' | 'assets';
  /** Name of the view. Unique in its list and scope, ignoring case */
  name: string;
  /** Query parameters of the list, URL-encoded, as in the address of the list. Empty: no filter */
  query: string;
  /** The columns that are shown, in their order. Empty: the default */
  columns?: string[];
  /** Sort key of the list. `null`: its default */
  sort?: string | null;
  /** Who sees the view: only you (`mine`), or everybody in your organization. Default: `mine` */
  scope?: 'mine' | 'organization';
  /** Place among the views. Default: the last */
  position?: number;
};

export type ViewList = {
  /** The items of this page */
  data: View[];
  page: Page;
};

export type ViewPatch = {
  /** Name of the view. Unique in its list and scope, ignoring case */
  name?: string;
  /** Query parameters of the list, URL-encoded, as in the address of the list. Empty: no filter */
  query?: string;
  /** The columns that are shown, in their order. Empty: the default */
  columns?: string[];
  /** Sort key of the list. `null`: its default */
  sort?: string | null;
  /** Place among the views, in ascending order */
  position?: number;
};

export type VulnerabilityAlias = {
  /** ID of the alias in this list */
  id: string;
  /** The other id */
  alias: string;
  /** The id under which findings of the vulnerability are kept */
  vulnerability: string;
  /** Who says so: a `knowledge` source, several `sources` that agree, a `person`, or tools whose `claim` nobody has confirmed */
  origin: 'knowledge' | 'sources' | 'person' | 'claim';
  /** Whose records the alias counts for: `all` sources, only the tools that claim it (`claimants`), or `none` because it is revoked, contradicted or replaced */
  counts_for: 'all' | 'claimants' | 'none';
  /** What tools say about the alias */
  claims: AliasClaim[];
  /** When the alias was confirmed, added or first claimed */
  created_at: string;
  /** Who added the alias by hand */
  added_by: string | null;
  /** Why it was added */
  added_reason: string | null;
  /** When the alias was revoked */
  revoked_at: string | null;
  /** Who revoked the alias */
  revoked_by: string | null;
  /** Why it was revoked */
  revoked_reason: string | null;
};

export type VulnerabilityAliasList = {
  /** The items of this page */
  data: VulnerabilityAlias[];
  page: Page;
};

export type Webhook = {
  /** ID (UUIDv7) */
  id: string;
  /** URL of the receiver, https or http, without user name and password */
  url: string;
  /** Events to deliver: types (`finding.created`), prefixes (`finding.*`), or all events (`*`) */
  event_types: string[];
  /** Note for people, up to 500 characters */
  description: string | null;
  /** Whether events are delivered */
  enabled: boolean;
  /** Why the webhook is disabled */
  disabled_reason: string | null;
  /** When the webhook was disabled */
  disabled_at: string | null;
  /** Last characters of the signing secret, to tell secrets apart */
  secret_hint: string;
  /** Until when deliveries are also signed with the previous secret */
  previous_secret_until: string | null;
  /** Since when all attempts have failed. After 24 hours the webhook is disabled */
  failing_since: string | null;
  /** Until when nothing is sent, because the receiver asked for a delay or failed several times in a row */
  paused_until: string | null;
  /** When the receiver last accepted an event */
  last_success_at: string | null;
  /** Name of the person or key that created the webhook */
  created_by: string;
  /** Version of the settings, also the ETag. Each change increases it by 1 */
  version: number;
  /** When the webhook was created */
  created_at: string;
  /** When the settings were last changed */
  updated_at: string;
};

export type WebhookCreate = {
  /** URL of the receiver, https or http, without user name and password */
  url: string;
  /** Events to deliver: types (`finding.created`), prefixes (`finding.*`), or all events (`*`) */
  event_types: EventPattern[];
  /** Note for people, up to 500 characters */
  description?: string | null;
  /** Whether events are delivered. Default: true */
  enabled?: boolean;
};

export type WebhookDelivery = {
  /** ID (UUIDv7) */
  id: string;
  /** Webhook that the event is delivered to */
  webhook_id: string;
  /** Id of the event, also the `webhook-id` header. It is the same for every delivery of the event */
  event_id: string;
  /** Type of the event */
  event_type: string;
  /** `pending`: waiting for the first or the next attempt. `succeeded`: accepted by the receiver. `failed`: no further attempts */
  status: 'pending' | 'succeeded' | 'failed';
  /** Number of attempts so far */
  attempts: number;
  /** When the next attempt is due */
  next_attempt_at: string | null;
  /** When the last attempt was made */
  last_attempt_at: string | null;
  /** Duration of the last attempt in milliseconds */
  duration_ms: number | null;
  /** HTTP status of the last response */
  response_status: number | null;
  /** First KiB of the last response body */
  response_excerpt: string | null;
  /** Why the last attempt failed */
  error: string | null;
  /** Delivery that this one repeats */
  replay_of: string | null;
  /** When the delivery was created */
  created_at: string;
};

export type WebhookDeliveryList = {
  /** The items of this page */
  data: WebhookDelivery[];
  page: Page;
};

export type WebhookList = {
  /** The items of this page */
  data: Webhook[];
  page: Page;
};

export type WebhookPatch = {
  /** URL of the receiver, https or http, without user name and password */
  url?: string;
  /** Events to deliver: types (`finding.created`), prefixes (`finding.*`), or all events (`*`) */
  event_types?: EventPattern[];
  /** Note for people, up to 500 characters */
  description?: string | null;
  /** Whether events are delivered. Events that occur while it is false are not delivered later */
  enabled?: boolean;
};

export type WebhookWithSecret = {
  /** ID (UUIDv7) */
  id: string;
  /** URL of the receiver, https or http, without user name and password */
  url: string;
  /** Events to deliver: types (`finding.created`), prefixes (`finding.*`), or all events (`*`) */
  event_types: string[];
  /** Note for people, up to 500 characters */
  description: string | null;
  /** Whether events are delivered */
  enabled: boolean;
  /** Why the webhook is disabled */
  disabled_reason: string | null;
  /** When the webhook was disabled */
  disabled_at: string | null;
  /** Last characters of the signing secret, to tell secrets apart */
  secret_hint: string;
  /** Until when deliveries are also signed with the previous secret */
  previous_secret_until: string | null;
  /** Since when all attempts have failed. After 24 hours the webhook is disabled */
  failing_since: string | null;
  /** Until when nothing is sent, because the receiver asked for a delay or failed several times in a row */
  paused_until: string | null;
  /** When the receiver last accepted an event */
  last_success_at: string | null;
  /** Name of the person or key that created the webhook */
  created_by: string;
  /** Version of the settings, also the ETag. Each change increases it by 1 */
  version: number;
  /** When the webhook was created */
  created_at: string;
  /** When the settings were last changed */
  updated_at: string;
  /** Signing secret: `whsec_` and 32 bytes in base64. It cannot be retrieved again */
  secret: string;
};

export type WorkItem = {
  /** What is to be done */
  title: string;
  /** Id of the work item (UUIDv7) */
  id: string;
  /** Follows from the findings: `verified` if the evidence proves that all of them are fixed. Only people set `blocked` and `cancelled` */
  status: WorkItemStatus;
  /** Reason that a person gave for the status */
  status_reason: string | null;
  /** When the status last changed */
  status_changed_at: string;
  /** E-mail address of a member, or any other name */
  assignee: string | null;
  /** Id of the assigned member. null if the assignee is not a member */
  assignee_member_id: string | null;
  /** Name of the assigned member. null if the assignee is not a member */
  assignee_name: string | null;
  /** Priority of the work */
  priority: Level;
  /** When the work is due */
  due_at: string | null;
  /** Whether the work item is open and past its due date */
  overdue: boolean;
  /** Reference in another system, such as a change number */
  external_ref: string | null;
  /** The closed work item whose findings came back */
  follows: string | null;
  findings: WorkItemFindings;
  /** When the work item was closed */
  closed_at: string | null;
  /** Who created the work item */
  created_by: string;
  /** Increases with each change. Also the ETag */
  version: number;
  /** When the work item was created */
  created_at: string;
  /** When the work item was last changed */
  updated_at: string;
  /** Details of the work */
  description: string | null;
  /** The work item that received findings that came back */
  followed_by: string | null;
  /** The newest 100 approvals, newest first */
  approvals: Approval[];
  /** One ticket per connection that the work item was pushed to */
  tickets: Ticket[];
  may: WorkItemAllowances;
  /** The statuses that people can set, in a fixed order */
  transitions: WorkItemTransition[];
};

/** What you may do with the work item */
export type WorkItemAllowances = {
  /** Change the work item: `null` if you may, otherwise why not */
  update: string | null;
  /** Add and remove findings: `null` if you may, otherwise why not */
  change_findings: string | null;
  /** Push the work item to another ticketing system: `null` if you may, otherwise why not */
  push_ticket: string | null;
  /** Approve the work item, as far as your own part in the work is known. `GET /work-items/{id}/state` also knows who can use your credential: `null` if you may, otherwise why not */
  approve: string | null;
  /** Reject the work item: `null` if you may, otherwise why not */
  reject: string | null;
};

/** Name the findings with `finding_ids` or `filter`, or add them later */
export type WorkItemCreate = {
  /** What is to be done. At most 500 characters */
  title: string;
  /** Details of the work */
  description?: string;
  /** Ids of the findings, at most 10,000 */
  finding_ids?: string[];
  /** Filters as in the list of findings. All of them must match */
  filter?: {
    /** One of these severities */
    severity?: Severity[];
    /** None of these severities */
    not_severity?: Severity[];
    /** One of these statuses */
    status?: FindingStatus[];
    /** None of these statuses */
    not_status?: FindingStatus[];
    /** Reported by this connection */
    connection_id?: string;
    /** Reported by a source with one of these providers: a report format, the provider of a connection, or `manual`. Ignores case */
    source?: string[];
    /** Reported by no source with one of these providers */
    not_source?: string[];
    /** Reported by a source of one of these kinds: `import` for uploaded reports, `connection`, or `manual` for people */
    source_kind?: ('import' | 'connection' | 'manual')[];
    /** On this asset */
    asset_id?: string;
    /** On an asset whose name starts with this text, ignoring case, or that is known by this name: an image with its tag, a repository by its clone URL */
    asset?: string;
    /** On an asset of one of these types */
    asset_type?: AssetType[];
    /** Not on an asset of one of these types */
    not_asset_type?: AssetType[];
    /** In this build of the asset: its version, tag, commit or digest. Requires `asset_id` */
    asset_version?: string;
    /** Seen on one of these branches, environments or release lines. `default` is the default track of an asset until it has a name. Active findings match only while they are still there. So do closed ones that a pull request has brought back. What only pull requests have is listed only with this filter, `asset_version` or `import_id` */
    track?: string[];
    /** Not on this branch, environment or release line at present. Together with `track`: what a branch adds to another, which includes closed findings that a pull request has brought back, and no other closed ones */
    new_since_track?: string;
    /** On an asset of one of these owners, ignoring case */
    owner?: string[];
    /** On an asset of one of these criticalities */
    criticality?: Level[];
    /** On an asset with one of these exposures */
    exposure?: Exposure[];
    /** On an asset with one of these tags */
    asset_tag?: string[];
    /** On an asset with none of these tags */
    not_asset_tag?: string[];
    /** Created, reopened, updated or closed by this import */
    import_id?: string;
    /** With one of these CVE, GHSA or other public ids, or an alias of it that counts */
    cve?: string[];
    /** With none of these CVE, GHSA or other public ids, nor an alias of them that counts */
    not_cve?: string[];
    /** With one of these CWE numbers: `79` or `CWE-79` */
    cwe?: (number | string)[];
    /** In this component, ignoring case. The name without its group also matches: `log4j-core` and `org.apache.logging.log4j:log4j-core` */
    component?: string;
    /** Not in one of these components */
    not_component?: string[];
    /** In this file or below this folder, ignoring case. The path starts at the root of the repository or image: `src` does not match `frontend/src/a.ts` */
    path?: string;
    /** Not in one of these files and not below one of these folders, as for `path` */
    not_path?: string[];
    /** Found by a check with one of these ids of the tool, ignoring case */
    rule?: string[];
    /** Not found by a check with one of these ids */
    not_rule?: string[];
    /** Whether a source knows a fix */
    has_fix?: boolean;
    /** Whether the sources that still see the finding differ by two steps of severity or more */
    severity_disputed?: boolean;
    /** Linked to this work item */
    work_item_id?: string;
    /** Whether linked to a work item that is not cancelled */
    has_work_item?: boolean;
    /** Linked to a work item that is not cancelled and is assigned to one of these, ignoring case: e-mail addresses of members, or other names */
    assignee?: string[];
    /** Whether listed by CISA as known to be exploited */
    kev?: boolean;
    /** EPSS score of at least this value */
    epss_min?: number;
    /** Risk score of at least this value */
    risk_min?: number;
    /** Whether active, not suppressed and past the deadline */
    overdue?: boolean;
    /** Whether open or in progress, and known to be exploited, past the deadline or with a risk score of at least 70 */
    fix_first?: boolean;
    /** Whether a request to accept the risk waits for approval */
    acceptance_requested?: boolean;
    /** Whether all sources that still see the finding suppress it */
    suppressed?: boolean;
    /** With one of these assurances */
    assurance?: Assurance[];
    /** With one of these tags */
    tag?: string[];
    /** With none of these tags */
    not_tag?: string[];
    /** Words with at least two letters or digits. All must occur in the title, component, source package, version, path, rule, ids, CWEs or asset name of a finding. A word with three characters or more also matches the beginning of a longer word, except for the end of a host name such as `com`, but never its middle. Titles, components and asset names are found by each of their words and the parts between `. _ @ / : -`. A path is found by its beginning, by the name of the file and by the names of the 5 nearest folders; a rule by its id, by its last part and by the 5 parts before it, between `. / :`. URLs, descriptions and solutions are not searched. An id also finds its aliases that count. A package URL (purl) finds its component and version. Single letters are ignored */
    q?: string;
    /** Start of the range, inclusive: a date (00:00 UTC) or a date-time */
    first_seen_from?: string;
    /** End of the range, exclusive: a date (00:00 UTC) or a date-time */
    first_seen_to?: string;
    /** Start of the range, inclusive: a date (00:00 UTC) or a date-time */
    last_seen_from?: string;
    /** End of the range, exclusive: a date (00:00 UTC) or a date-time */
    last_seen_to?: string;
    /** Start of the range, inclusive: a date (00:00 UTC) or a date-time */
    created_from?: string;
    /** End of the range, exclusive: a date (00:00 UTC) or a date-time */
    created_to?: string;
    /** Start of the range, inclusive: a date (00:00 UTC) or a date-time */
    updated_from?: string;
    /** End of the range, exclusive: a date (00:00 UTC) or a date-time */
    updated_to?: string;
    /** Start of the range, inclusive: a date (00:00 UTC) or a date-time */
    due_from?: string;
    /** End of the range, exclusive: a date (00:00 UTC) or a date-time */
    due_to?: string;
  };
  /** Id or e-mail address of a member, or any other name */
  assignee?: string;
  /** Priority of the work. Default: medium */
  priority?: Level;
  /** When the work is due, RFC 3339 */
  due_at?: string;
  /** Reference in another system, such as a change number */
  external_ref?: string;
};

/** Number of findings by what they contribute to the status. For a closed work item: as of its closing */
export type WorkItemFindings = {
  /** All findings */
  total: number;
  /** Open */
  open: number;
  /** In progress */
  in_progress: number;
  /** Claimed as remediated: not verified, or verified without a scan or a second person */
  remediated: number;
  /** Verified as remediated by a scan or by a second person */
  verified: number;
  /** Risk accepted, false positive, or withdrawn because of a person, a retired asset or an asset that is gone */
  excepted: number;
  /** Withdrawn by their source. They count neither for nor against the work item */
  aside: number;
};

/** Either `finding_ids` or `filter` */
export type WorkItemFindingsAdd = {
  /** Ids of the findings, at most 10,000 */
  finding_ids?: string[];
  /** Filters as in the list of findings. All of them must match */
  filter?: {
    /** One of these severities */
    severity?: Severity[];
    /** None of these severities */
    not_severity?: Severity[];
    /** One of these statuses */
    status?: FindingStatus[];
    /** None of these statuses */
    not_status?: FindingStatus[];
    /** Reported by this connection */
    connection_id?: string;
    /** Reported by a source with one of these providers: a report format, the provider of a connection, or `manual`. Ignores case */
    source?: string[];
    /** Reported by no source with one of these providers */
    not_source?: string[];
    /** Reported by a source of one of these kinds: `import` for uploaded reports, `connection`, or `manual` for people */
    source_kind?: ('import' | 'connection' | 'manual')[];
    /** On this asset */
    asset_id?: string;
    /** On an asset whose name starts with this text, ignoring case, or that is known by this name: an image with its tag, a repository by its clone URL */
    asset?: string;
    /** On an asset of one of these types */
    asset_type?: AssetType[];
    /** Not on an asset of one of these types */
    not_asset_type?: AssetType[];
    /** In this build of the asset: its version, tag, commit or digest. Requires `asset_id` */
    asset_version?: string;
    /** Seen on one of these branches, environments or release lines. `default` is the default track of an asset until it has a name. Active findings match only while they are still there. So do closed ones that a pull request has brought back. What only pull requests have is listed only with this filter, `asset_version` or `import_id` */
    track?: string[];
    /** Not on this branch, environment or release line at present. Together with `track`: what a branch adds to another, which includes closed findings that a pull request has brought back, and no other closed ones */
    new_since_track?: string;
    /** On an asset of one of these owners, ignoring case */
    owner?: string[];
    /** On an asset of one of these criticalities */
    criticality?: Level[];
    /** On an asset with one of these exposures */
    exposure?: Exposure[];
    /** On an asset with one of these tags */
    asset_tag?: string[];
    /** On an asset with none of these tags */
    not_asset_tag?: string[];
    /** Created, reopened, updated or closed by this import */
    import_id?: string;
    /** With one of these CVE, GHSA or other public ids, or an alias of it that counts */
    cve?: string[];
    /** With none of these CVE, GHSA or other public ids, nor an alias of them that counts */
    not_cve?: string[];
    /** With one of these CWE numbers: `79` or `CWE-79` */
    cwe?: (number | string)[];
    /** In this component, ignoring case. The name without its group also matches: `log4j-core` and `org.apache.logging.log4j:log4j-core` */
    component?: string;
    /** Not in one of these components */
    not_component?: string[];
    /** In this file or below this folder, ignoring case. The path starts at the root of the repository or image: `src` does not match `frontend/src/a.ts` */
    path?: string;
    /** Not in one of these files and not below one of these folders, as for `path` */
    not_path?: string[];
    /** Found by a check with one of these ids of the tool, ignoring case */
    rule?: string[];
    /** Not found by a check with one of these ids */
    not_rule?: string[];
    /** Whether a source knows a fix */
    has_fix?: boolean;
    /** Whether the sources that still see the finding differ by two steps of severity or more */
    severity_disputed?: boolean;
    /** Linked to this work item */
    work_item_id?: string;
    /** Whether linked to a work item that is not cancelled */
    has_work_item?: boolean;
    /** Linked to a work item that is not cancelled and is assigned to one of these, ignoring case: e-mail addresses of members, or other names */
    assignee?: string[];
    /** Whether listed by CISA as known to be exploited */
    kev?: boolean;
    /** EPSS score of at least this value */
    epss_min?: number;
    /** Risk score of at least this value */
    risk_min?: number;
    /** Whether active, not suppressed and past the deadline */
    overdue?: boolean;
    /** Whether open or in progress, and known to be exploited, past the deadline or with a risk score of at least 70 */
    fix_first?: boolean;
    /** Whether a request to accept the risk waits for approval */
    acceptance_requested?: boolean;
    /** Whether all sources that still see the finding suppress it */
    suppressed?: boolean;
    /** With one of these assurances */
    assurance?: Assurance[];
    /** With one of these tags */
    tag?: string[];
    /** With none of these tags */
    not_tag?: string[];
    /** Words with at least two letters or digits. All must occur in the title, component, source package, version, path, rule, ids, CWEs or asset name of a finding. A word with three characters or more also matches the beginning of a longer word, except for the end of a host name such as `com`, but never its middle. Titles, components and asset names are found by each of their words and the parts between `. _ @ / : -`. A path is found by its beginning, by the name of the file and by the names of the 5 nearest folders; a rule by its id, by its last part and by the 5 parts before it, between `. / :`. URLs, descriptions and solutions are not searched. An id also finds its aliases that count. A package URL (purl) finds its component and version. Single letters are ignored */
    q?: string;
    /** Start of the range, inclusive: a date (00:00 UTC) or a date-time */
    first_seen_from?: string;
    /** End of the range, exclusive: a date (00:00 UTC) or a date-time */
    first_seen_to?: string;
    /** Start of the range, inclusive: a date (00:00 UTC) or a date-time */
    last_seen_from?: string;
    /** End of the range, exclusive: a date (00:00 UTC) or a date-time */
    last_seen_to?: string;
    /** Start of the range, inclusive: a date (00:00 UTC) or a date-time */
    created_from?: string;
    /** End of the range, exclusive: a date (00:00 UTC) or a date-time */
    created_to?: string;
    /** Start of the range, inclusive: a date (00:00 UTC) or a date-time */
    updated_from?: string;
    /** End of the range, exclusive: a date (00:00 UTC) or a date-time */
    updated_to?: string;
    /** Start of the range, inclusive: a date (00:00 UTC) or a date-time */
    due_from?: string;
    /** End of the range, exclusive: a date (00:00 UTC) or a date-time */
    due_to?: string;
  };
};

/** `matched` is the sum of `linked` and `already_linked` */
export type WorkItemFindingsAdded = {
  /** Findings named or matched by the filter */
  matched: number;
  /** Findings added */
  linked: number;
  /** Findings that were already on the work item */
  already_linked: number;
  work_item: ListedWorkItem;
};

export type WorkItemList = {
  /** The items of this page */
  data: ListedWorkItem[];
  page: Page;
};

export type WorkItemPatch = {
  /** What is to be done. At most 500 characters */
  title?: string;
  /** Details of the work */
  description?: string | null;
  /** Id or e-mail address of a member, or any other name */
  assignee?: string | null;
  /** Priority of the work */
  priority?: Level;
  /** When the work is due, RFC 3339 */
  due_at?: string | null;
  /** Reference in another system, such as a change number */
  external_ref?: string | null;
  /** New status. All other statuses follow from the findings */
  status?: SettableWorkItemStatus;
  /** Reason for the status. Required for `blocked`, `awaiting_verification` and `cancelled` */
  reason?: string;
};

export type WorkItemRef = {
  /** Title of the work item */
  title: string;
  /** ID (UUIDv7) */
  id: string;
  /** Status of the work item */
  status: string;
  /** E-mail address of a member, or any other name */
  assignee: string | null;
  /** When the finding was linked to the work item */
  linked_at: string;
};

export type WorkItemState = {
  /** SHA-256 of the lines, each ended by a line feed, in hexadecimal */
  state_digest: string;
  /** The work item and its policy, then each finding, removed finding and artifact, sorted by id */
  lines: string[];
  /** Whether your approval would count as that of a second person: neither you nor anybody who can use your credential took part in the work */
  independent: boolean;
};

export type WorkItemStatus = 'open' | 'in_progress' | 'blocked' | 'awaiting_verification' | 'verified' | 'closed_with_exceptions' | 'cancelled';

export type WorkItemTransition = {
  /** The new status */
  to: SettableWorkItemStatus;
  /** Fields that `PATCH /work-items/{id}` requires with this status */
  needs: 'reason'[];
  /** Why you cannot set this status. `null` if you can */
  refused: string | null;
};

/** What each operation takes and returns. */
export interface Operations {
  /** Choose a password with an invitation. Sets the member's password, ends the member's other sessions and signs in with a session cookie. The token of the link is the only credential. It works once. */

  acceptInvitation: {
    path: {
      /** Token of the link, after `#token=` */
      token: string;
    };
    body: InvitationAcceptance;
    response: Me;
  };
  /** Add an artifact. Adds an artifact to a work item. Send a file as the part `file` of a multipart form together with the other fields, or send JSON with a `url`. If a ticketing connection of your organization can read the link, the service captures its content shortly after and adds it as an artifact that supersedes the link. With `supersedes`, the new artifact replaces an earlier one. Closed work items accept artifacts too; the next package includes them. */

  addArtifact: {
    path: {
      /** Id of the work item. */
      work_item_id: string;
    };
    body: ArtifactLink | FormData;
    response: Artifact;
  };
  /** Comment on a finding. Adds a comment to a finding. A comment cannot be changed. It can be withdrawn. */

  addFindingComment: {
    path: {
      /** Id of the finding or work item (UUIDv7) */
      id: string;
    };
    body: CommentCreate;
    response: Comment;
  };
  /** Add a member. Adds a member to your organization. You cannot assign a role higher than your own. A member without a password can sign in only through the identity provider. A member must change a password that you chose before changing anything else. */

  addMember: {
    body: MemberCreate;
    response: Member;
  };
  /** Add an alias of a vulnerability. Lets two ids count as one vulnerability for all sources. Findings of both on one asset become one. Returns 404 if no source has reported one of the ids, 409 if the alias is already in use or was revoked, and 422 if the alias is a CVE or the same id, or if each id would become an alias of the other. */

  addVulnerabilityAlias: {
    body: AliasCreate;
    response: VulnerabilityAlias;
  };
  /** Comment on a work item. Adds a comment to a work item. A comment cannot be changed. It can be withdrawn. */

  addWorkItemComment: {
    path: {
      /** Id of the finding or work item (UUIDv7) */
      id: string;
    };
    body: CommentCreate;
    response: Comment;
  };
  /** Add findings to a work item. Adds findings, named by `finding_ids` or matched by `filter`. A work item can have 10,000 findings. Findings that are already on it are skipped. Returns 409 if the work item is closed. */

  addWorkItemFindings: {
    path: {
      /** Id of the work item (UUIDv7) */
      id: string;
    };
    body: WorkItemFindingsAdd;
    response: WorkItemFindingsAdded;
  };
  /** Approve the acceptance of a risk. Approves the pending request to accept the risk of the finding, which then becomes `risk_accepted`. Returns 409 if there is no request, if you made it yourself with any of your credentials, or if it has expired. Send `If-Match` to approve exactly what you have read. */

  approveAcceptance: {
    path: {
      /** ID (UUIDv7) */
      id: string;
    };
    header?: {
      /** `ETag` that the change is based on. If it is not current, the response is 412. Default: no check */
      'If-Match'?: string;
    };
    body: AcceptanceApproval;
    response: Finding;
  };
  /** Cancel a run. Cancels a run. A queued run ends immediately, a running one within seconds. A cancelled run imports nothing and closes nothing. */

  cancelRun: {
    path: {
      /** Id of the connection (UUIDv7) */
      id: string;
      /** Id of the run (UUIDv7) */
      run_id: string;
    };
    response: SyncRun;
  };
  /** Change many findings. Applies one change to many findings, selected either by `ids` (at most 10,000) or by `filter` (at most 100,000 matches). The rules are the same as for a single finding. Findings that the change is not allowed for stay unchanged and are listed in `refused`. If a field is missing for one of the findings, nothing is changed and the response is 400. */

  changeFindings: {
    body: BulkChange;
    response: BulkResult;
  };
  /** Change your password. Changes your password. Ends all your sessions, including the current one. Sign in again with the new password. `revoke_api_keys` also revokes your API keys, in case somebody else had the password. Returns 409 if the credential is not that of a member. */

  changeOwnPassword: {
    body: PasswordChange;
    response: undefined;
  };
  /** Confirm an import. Closes the findings that the report no longer shows. Returns 409 unless the status of the import is `needs_confirmation`. */

  confirmImport: {
    path: {
      /** ID (UUIDv7) */
      id: string;
    };
    response: Import;
  };
  /** Confirm a withheld run. Closes the findings that the run no longer saw. Applies to a run with status `needs_confirmation`. */

  confirmRun: {
    path: {
      /** Id of the connection (UUIDv7) */
      id: string;
      /** Id of the run (UUIDv7) */
      run_id: string;
    };
    response: SyncRun;
  };
  /** Create an API key. Creates an API key. The response contains the key. It cannot be retrieved again. You cannot assign a role higher than your own. When the member who created the key is removed, the key is revoked. */

  createApiKey: {
    body: ApiKeyCreate;
    response: ApiKeyCreated;
  };
  /** Create an asset. Creates an asset before a report names it, for example to set its criticality and owner. Returns 409 with the id of the existing asset if the name is known. */

  createAsset: {
    body: AssetCreate;
    response: AssetDetails;
  };
  /** Create a connection. Creates a connection to a provider. The settings must match the provider's schemas in the catalog. Errors name the field. Credentials are encrypted before they are stored. A connection with a schedule starts its first run within a minute. */

  createConnection: {
    body: {
      /** Provider id from the catalog */
      provider: string;
      /** Display name, unique in your organization. Default: the name of the provider */
      name?: string;
      /** Settings that match the provider's `config_schema` */
      config?: Record<string, unknown>;
      /** Secrets that match the provider's `credentials_schema`. Stored encrypted and never returned */
      credentials?: Record<string, unknown>;
      /** Default: once a day. null: only on request. Ticketing connections are polled every five minutes regardless of the schedule */
      schedule?: {
        /** Minutes between two runs, plus or minus 5 percent */
        every_minutes: number;
      } | null;
      /** Whether the connection runs. Default: true */
      enabled?: boolean;
    };
    response: Connection;
  };
  /** Generate an evidence package. Generates a signed package of the current evidence of a work item. The work item does not have to be finished: the package states what is still open. Returns 201 if generation ends within `Prefer: wait=N` seconds (default 10); check `status`, which can be `failed`. Otherwise returns 202; poll the URL in `Location`. With `dry_run` returns 200 with the conclusion, the grade and the gaps that the package would have, and generates nothing. */

  createEvidencePackage: {
    header?: {
      /** `wait=N` (RFC 7240): seconds to wait for the result, at most 60 */
      Prefer?: string;
    };
    body: NewEvidencePackage;
    response: EvidencePreview | EvidencePackage;
  };
  /** Create a finding. Creates a finding manually, for weaknesses that no scanner reported. Returns 409 with the id of the existing finding if the weakness is already known at this location of the asset, and 422 with their ids if several hosts have the name in `asset`. */

  createFinding: {
    body: FindingCreate;
    response: Finding;
  };
  /** Import a report. Uploads a report and queues its import. Send the file as the request body or as the part `file` of a form. Returns 202 with the import. With `Prefer: wait=N`, the response waits up to N seconds for the import to finish, and is 422 `import_failed` if it failed. With an `Idempotency-Key`, sending the same file again returns the same import. Importing the same report again changes nothing. Findings are closed only if `scan_scope` declares the report complete. Returns 429 if too many jobs of your organization are waiting. */

  createImport: {
    query?: {
      /** Format of the report. Default: detected. Always state it: reports without findings can fit several */
      format?: ReportFormat;
      /** Name of the file. If several formats fit, the one it names counts: `gitleaks.json` */
      filename?: string;
      /** What the scan covered: a ScanScope object as JSON */
      scan_scope?: string;
      /** Report what would change without changing anything */
      dry_run?: boolean;
    };
    header?: {
      /** `wait=N` (RFC 7240): seconds to wait for the result, at most 60 */
      Prefer?: string;
    };
    body: Bytes | FormData;
    response: Import;
  };
  /** Trust a pipeline. Trusts the OpenID Connect tokens that an issuer signs for a pipeline, if their claims meet the conditions. The pipeline then sends its own token as the bearer token and needs no API key. It must request the token for the `audience` in the response. */

  createPipelineTrust: {
    body: PipelineTrustCreate;
    response: PipelineTrust;
  };
  /** Sign in. Signs in a member with e-mail and password and sets a session cookie. Use an API key for programs. After repeated failures, sign-in is delayed for the account and for the IP address. */

  createSession: {
    body: SessionCreate;
    response: Me;
  };
  /** Share an evidence package. Creates a link with which an auditor can download the package without an account. The response contains the link. It cannot be retrieved again. The link works until it expires, is revoked or has no downloads left, even if the package is superseded. Every download is recorded with a receipt. */

  createShareLink: {
    path: {
      /** Id of the evidence package. */
      package_id: string;
    };
    body: NewShareLink;
    response: ShareLinkCreated;
  };
  /** Save a view. Saves filters, columns and sort order of a list under a name, for you or for the organization. Views of the organization require the permission `views:share`. You and the organization can have 200 views each. Returns 409 if the name is taken. */

  createView: {
    body: ViewCreate;
    response: View;
  };
  /** Create a webhook. Creates a webhook that delivers the events of changes that begin after its creation. Events are CloudEvents 1.0 (structured JSON), signed according to Standard Webhooks. Each event is delivered at least once, in order as far as possible. A delivery that is not answered with a status from 200 to 299 within 15 seconds is retried for a day. The response contains the signing secret. It cannot be retrieved again. An organization can have at most 50 webhooks. */

  createWebhook: {
    body: WebhookCreate;
    response: WebhookWithSecret;
  };
  /** Create a work item. Creates a remediation task with at most 10,000 findings, named by id or matched by a filter. The status follows from the findings immediately. For example, a work item whose findings are all verified is created as `verified`. */

  createWorkItem: {
    body: WorkItemCreate;
    response: WorkItem;
  };
  /** Approve or reject a work item. Records your decision on the state of the work item that you saw: `state_digest` is the digest that `GET /work-items/{id}/state` returned. Returns 409 and says what changed if the state is no longer current. The record cannot be changed later. Evidence packages show the state that was approved, and what changed since. If the four-eyes policy of your organization is on, nobody who took part in the work can approve it: creator, current and former assignees, and anybody who worked on it, added an artifact or claimed a finding as remediated. The same applies to members whose password was set by one of them. */

  decideOnWorkItem: {
    path: {
      /** Id of the work item (UUIDv7) */
      id: string;
    };
    body: ApprovalCreate;
    response: Approval;
  };
  /** Delete a connection. Deletes a connection, erases its credentials and cancels its active run. Its findings stay as they are. Deleting a connection closes nothing. */

  deleteConnection: {
    path: {
      /** Id of the connection (UUIDv7) */
      id: string;
    };
    response: undefined;
  };
  /** Delete the file of an import. Deletes the stored report file. The import and its results stay, and `file_deleted_at` says that the file is gone. Evidence packages that are generated later cannot contain it. Does nothing if the file was deleted before. Returns 409 if an evidence package contains the file, or if the import has not finished reading it. */

  deleteImportFile: {
    path: {
      /** ID (UUIDv7) */
      id: string;
    };
    response: undefined;
  };
  /** Stop trusting a pipeline. Deletes the trust. Tokens of the pipeline are refused from the next request on, on every replica. Its imports stay. */

  deletePipelineTrust: {
    path: {
      /** ID (UUIDv7) */
      id: string;
    };
    response: undefined;
  };
  /** Sign out. Ends the session of the cookie immediately, on every replica. Returns 409 if the request uses another credential. */

  deleteSession: {
    response: undefined;
  };
  /** Delete a saved view. Deletes a view. Views of the organization require the permission `views:share`. */

  deleteView: {
    path: {
      /** Id of the view (UUIDv7) */
      id: string;
    };
    response: undefined;
  };
  /** Delete a webhook. Deletes a webhook with its secret and all its deliveries, including pending ones. */

  deleteWebhook: {
    path: {
      /** ID (UUIDv7) */
      id: string;
    };
    response: undefined;
  };
  /** Discard the closures of an import. Leaves the findings open that the report no longer shows. Findings that the import created or updated stay. Returns 409 unless the status of the import is `needs_confirmation`. */

  discardImport: {
    path: {
      /** ID (UUIDv7) */
      id: string;
    };
    response: Import;
  };
  /** Discard a withheld run. Keeps the findings open that the run no longer saw. Findings that it did see stay imported. Applies to a run with status `needs_confirmation`. */

  discardRun: {
    path: {
      /** Id of the connection (UUIDv7) */
      id: string;
      /** Id of the run (UUIDv7) */
      run_id: string;
    };
    response: SyncRun;
  };
  /** Download an evidence package. Returns the sealed ZIP file, or one of its formats alone. Supports range requests. Every download is recorded with a receipt. */

  downloadEvidencePackage: {
    path: {
      /** Id of the evidence package. */
      package_id: string;
    };
    query?: {
      /** Format to download. `zip` (the default) is the complete package. */
      format?: 'zip' | 'pdf' | 'html' | 'json' | 'jsonl' | 'csv' | 'oscal-ar' | 'oscal-poam' | 'openvex' | 'cyclonedx-vex' | 'sarif';
    };
    header?: {
      /** One range of bytes (RFC 9110). Default: everything */
      Range?: string;
      /** `Range` applies only if this is the current `ETag`. Otherwise the whole content is sent */
      'If-Range'?: string;
      /** ETags that the caller has. If one is current, the response is 304 */
      'If-None-Match'?: string;
    };
    response: Response;
  };
  /** Download a shared evidence package. Returns the sealed ZIP file, or one of its formats alone. Supports range requests. Every download is recorded with a receipt. Returns 410 if the link has no downloads left. */

  downloadSharedEvidencePackage: {
    path: {
      /** Token of the share link. */
      token: string;
    };
    query?: {
      /** Format to download. `zip` (the default) is the complete package. */
      format?: 'zip' | 'pdf' | 'html' | 'json' | 'jsonl' | 'csv' | 'oscal-ar' | 'oscal-poam' | 'openvex' | 'cyclonedx-vex' | 'sarif';
    };
    header?: {
      /** One range of bytes (RFC 9110). Default: everything */
      Range?: string;
      /** `Range` applies only if this is the current `ETag`. Otherwise the whole content is sent */
      'If-Range'?: string;
      /** ETags that the caller has. If one is current, the response is 304 */
      'If-None-Match'?: string;
    };
    response: Response;
  };
  /** End a track of an asset. Ends a branch, environment or release line that no longer exists. Findings that only this track has are withdrawn, because the end proves nothing about them. A later scan of the track brings it back. */

  endAssetTrack: {
    path: {
      /** ID (UUIDv7) */
      id: string;
      /** Name of the track: a branch, environment or release line. `default` until a scan or a person names it */
      name: string;
    };
    query?: {
      /** Why the track ended */
      reason?: string;
    };
    response: undefined;
  };
  /** End one of your sessions. Ends one of your browser sessions immediately, on every replica. Sign-out ends the current one. */

  endOwnSession: {
    path: {
      /** ID (UUIDv7) */
      id: string;
    };
    response: undefined;
  };
  /** End pull requests and branches. Ends the tracks of pull requests and branches that have been merged or closed. Call it from the pipeline that runs when a pull request closes. What only they have is not listed any more. This proves nothing about the findings. Tracks whose findings count do not end: `DELETE /assets/{id}/tracks/{name}` ends those. */

  endTracks: {
    body: EndedTracks;
    response: EndedTracksResult;
  };
  /** Export audit events. Returns all audit events that match the filters as one file, oldest first. The file is streamed. Returns 429 if your organization already has several exports running. */

  exportAuditEvents: {
    query?: {
      /** File format: CSV or NDJSON (one JSON object per line). Default: `csv` */
      format?: 'csv' | 'ndjson';
      /** Id of the actor */
      actor_id?: string;
      /** Id of the person behind the actor */
      person_id?: string;
      /** Actions such as `api_key.created`, separated by commas */
      action?: string[];
      /** Kind of object, such as `api_key` */
      object_type?: string;
      /** Id of the object */
      object_id?: string;
      /** Id of the request that made the change */
      request_id?: string;
      /** Start of the range, inclusive: a date (00:00 UTC) or a date-time */
      occurred_from?: string;
      /** End of the range, exclusive: a date (00:00 UTC) or a date-time */
      occurred_to?: string;
    };
    response: Response;
  };
  /** Export findings. Returns all findings that match the filters as one file. The file is streamed. For `openvex`, returns 404 if no finding matches, because an OpenVEX document must have at least one statement. Returns 429 if your organization already has several exports running. */

  exportFindings: {
    query?: {
      /** File format: CSV, NDJSON (one JSON object per line), SARIF 2.1.0, CycloneDX 1.6 VEX or OpenVEX 0.2.0. Default: `csv` */
      format?: 'csv' | 'ndjson' | 'sarif' | 'cyclonedx-vex' | 'openvex';
      /** One of these severities */
      severity?: Severity[];
      /** None of these severities */
      not_severity?: Severity[];
      /** One of these statuses */
      status?: FindingStatus[];
      /** None of these statuses */
      not_status?: FindingStatus[];
      /** Reported by this connection */
      connection_id?: string;
      /** Reported by a source with one of these providers: a report format, the provider of a connection, or `manual`. Ignores case */
      source?: string[];
      /** Reported by no source with one of these providers */
      not_source?: string[];
      /** Reported by a source of one of these kinds: `import` for uploaded reports, `connection`, or `manual` for people */
      source_kind?: ('import' | 'connection' | 'manual')[];
      /** On this asset */
      asset_id?: string;
      /** On an asset whose name starts with this text, ignoring case, or that is known by this name: an image with its tag, a repository by its clone URL */
      asset?: string;
      /** On an asset of one of these types */
      asset_type?: AssetType[];
      /** Not on an asset of one of these types */
      not_asset_type?: AssetType[];
      /** In this build of the asset: its version, tag, commit or digest. Requires `asset_id` */
      asset_version?: string;
      /** Seen on one of these branches, environments or release lines. `default` is the default track of an asset until it has a name. Active findings match only while they are still there. So do closed ones that a pull request has brought back. What only pull requests have is listed only with this filter, `asset_version` or `import_id` */
      track?: string[];
      /** Not on this branch, environment or release line at present. Together with `track`: what a branch adds to another, which includes closed findings that a pull request has brought back, and no other closed ones */
      new_since_track?: string;
      /** On an asset of one of these owners, ignoring case */
      owner?: string[];
      /** On an asset of one of these criticalities */
      criticality?: Level[];
      /** On an asset with one of these exposures */
      exposure?: Exposure[];
      /** On an asset with one of these tags */
      asset_tag?: string[];
      /** On an asset with none of these tags */
      not_asset_tag?: string[];
      /** Created, reopened, updated or closed by this import */
      import_id?: string;
      /** With one of these CVE, GHSA or other public ids, or an alias of it that counts */
      cve?: string[];
      /** With none of these CVE, GHSA or other public ids, nor an alias of them that counts */
      not_cve?: string[];
      /** With one of these CWE numbers: `79` or `CWE-79` */
      cwe?: (number | string)[];
      /** In this component, ignoring case. The name without its group also matches: `log4j-core` and `org.apache.logging.log4j:log4j-core` */
      component?: string;
      /** Not in one of these components */
      not_component?: string[];
      /** In this file or below this folder, ignoring case. The path starts at the root of the repository or image: `src` does not match `frontend/src/a.ts` */
      path?: string;
      /** Not in one of these files and not below one of these folders, as for `path` */
      not_path?: string[];
      /** Found by a check with one of these ids of the tool, ignoring case */
      rule?: string[];
      /** Not found by a check with one of these ids */
      not_rule?: string[];
      /** Whether a source knows a fix */
      has_fix?: boolean;
      /** Whether the sources that still see the finding differ by two steps of severity or more */
      severity_disputed?: boolean;
      /** Linked to this work item */
      work_item_id?: string;
      /** Whether linked to a work item that is not cancelled */
      has_work_item?: boolean;
      /** Linked to a work item that is not cancelled and is assigned to one of these, ignoring case: e-mail addresses of members, or other names */
      assignee?: string[];
      /** Whether listed by CISA as known to be exploited */
      kev?: boolean;
      /** EPSS score of at least this value */
      epss_min?: number;
      /** Risk score of at least this value */
      risk_min?: number;
      /** Whether active, not suppressed and past the deadline */
      overdue?: boolean;
      /** Whether open or in progress, and known to be exploited, past the deadline or with a risk score of at least 70 */
      fix_first?: boolean;
      /** Whether a request to accept the risk waits for approval */
      acceptance_requested?: boolean;
      /** Whether all sources that still see the finding suppress it */
      suppressed?: boolean;
      /** With one of these assurances */
      assurance?: Assurance[];
      /** With one of these tags */
      tag?: string[];
      /** With none of these tags */
      not_tag?: string[];
      /** Words with at least two letters or digits. All must occur in the title, component, source package, version, path, rule, ids, CWEs or asset name of a finding. A word with three characters or more also matches the beginning of a longer word, except for the end of a host name such as `com`, but never its middle. Titles, components and asset names are found by each of their words and the parts between `. _ @ / : -`. A path is found by its beginning, by the name of the file and by the names of the 5 nearest folders; a rule by its id, by its last part and by the 5 parts before it, between `. / :`. URLs, descriptions and solutions are not searched. An id also finds its aliases that count. A package URL (purl) finds its component and version. Single letters are ignored */
      q?: string;
      /** Start of the range, inclusive: a date (00:00 UTC) or a date-time */
      first_seen_from?: string;
      /** End of the range, exclusive: a date (00:00 UTC) or a date-time */
      first_seen_to?: string;
      /** Start of the range, inclusive: a date (00:00 UTC) or a date-time */
      last_seen_from?: string;
      /** End of the range, exclusive: a date (00:00 UTC) or a date-time */
      last_seen_to?: string;
      /** Start of the range, inclusive: a date (00:00 UTC) or a date-time */
      created_from?: string;
      /** End of the range, exclusive: a date (00:00 UTC) or a date-time */
      created_to?: string;
      /** Start of the range, inclusive: a date (00:00 UTC) or a date-time */
      updated_from?: string;
      /** End of the range, exclusive: a date (00:00 UTC) or a date-time */
      updated_to?: string;
      /** Start of the range, inclusive: a date (00:00 UTC) or a date-time */
      due_from?: string;
      /** End of the range, exclusive: a date (00:00 UTC) or a date-time */
      due_to?: string;
    };
    response: Response;
  };
  /** Finish to sign in at the identity provider. Finishes a sign-in, when the identity provider sends the browser back: sets a session cookie and redirects to the page that the sign-in was started for. If the sign-in fails, redirects to `/sign-in` with the reason in `error`: `expired`, `denied`, `invalid_response`, `provider_unavailable`, `no_member`, `email_not_verified` or `choose_organization`. */

  finishOidcSignIn: {
    query?: {
      /** Value that the service sent to the identity provider */
      state?: string;
      /** Authorization code */
      code?: string;
      /** Issuer of the response (RFC 9207) */
      iss?: string;
      /** Error code of the identity provider */
      error?: string;
      /** Explanation of the error */
      error_description?: string;
    };
    response: undefined;
  };
  /** Get an API key. Returns an API key's name, role, status and first characters. The key itself cannot be retrieved. */

  getApiKey: {
    path: {
      /** ID (UUIDv7) */
      id: string;
    };
    response: ApiKey;
  };
  /** Get the state that was approved or rejected. Returns the state of the work item that a decision was made on, as `GET /work-items/{id}/state` showed it then. Compare it with the current state to see what changed since. */

  getApprovedState: {
    path: {
      /** Id of the work item (UUIDv7) */
      id: string;
      /** Id of the approval (UUIDv7) */
      approval_id: string;
    };
    response: ApprovedState;
  };
  /** Get an artifact. Returns one artifact without its content. For a removed artifact, `removed` says who removed it, when and why. */

  getArtifact: {
    path: {
      /** Id of the artifact. */
      id: string;
    };
    response: Artifact;
  };
  /** Download an artifact. Returns the content of an artifact as it was received. Supports range requests. Returns 404 for links and removed artifacts. Every download is recorded in the audit trail. */

  getArtifactContent: {
    path: {
      /** Id of the artifact. */
      id: string;
    };
    header?: {
      /** One range of bytes (RFC 9110). Default: everything */
      Range?: string;
      /** `Range` applies only if this is the current `ETag`. Otherwise the whole content is sent */
      'If-Range'?: string;
      /** ETags that the caller has. If one is current, the response is 304 */
      'If-None-Match'?: string;
    };
    response: Response;
  };
  /** Get an asset. Returns one asset with the names by which it is recognized. To list its findings, use `GET /findings?asset_id=`. */

  getAsset: {
    path: {
      /** ID (UUIDv7) */
      id: string;
    };
    response: AssetDetails;
  };
  /** Get a connection. Returns one connection with its latest run. */

  getConnection: {
    path: {
      /** Id of the connection (UUIDv7) */
      id: string;
    };
    response: Connection;
  };
  /** Get the OpenAPI description. Returns the OpenAPI 3.1 description of this API. It is generated from the schemas that validate requests and serialize responses. */

  getDescription: {
    response: {
      /** Version of the OpenAPI specification */
      openapi: string;
    };
  };
  /** Get an evidence package. Returns one evidence package: its conclusion, gaps, hashes, entry in the transparency log, files and downloads. Viewing a sealed package is recorded in the audit trail. */

  getEvidencePackage: {
    path: {
      /** Id of the evidence package. */
      package_id: string;
    };
    response: EvidencePackage;
  };
  /** Get evidence statistics. Returns the number of packages, their completeness, the closed work items without a package, the generation time, and the number of downloads and verifications. */

  getEvidenceStats: {
    response: EvidenceStats;
  };
  /** Get a signed status statement. Returns a statement, signed now, that says whether the package is current or superseded. Give it to people who verify the package offline, with `rrs-verify --status`. That a package is superseded is also an entry of the transparency log. Returns 409 if the package is not sealed. */

  getEvidenceStatusStatement: {
    path: {
      /** Id of the evidence package. */
      package_id: string;
    };
    response: EvidenceStatusStatement;
  };
  /** Get a finding. Returns one finding with its texts, what each source says about it, why it is still open, where it occurs, its work items and the factors of its risk score. */

  getFinding: {
    path: {
      /** ID (UUIDv7) */
      id: string;
    };
    response: Finding;
  };
  /** Count findings by the values of filters. Returns how many findings match for each value of the filters in `by`, for example to show a count next to each choice. Each count is the total of `GET /findings` with this value and all other filters of the request: the value replaces what the request states for the same filter. Counting stops at 10,000 findings for each value. */

  getFindingFacets: {
    query?: {
      /** One of these severities */
      severity?: Severity[];
      /** None of these severities */
      not_severity?: Severity[];
      /** One of these statuses */
      status?: FindingStatus[];
      /** None of these statuses */
      not_status?: FindingStatus[];
      /** Reported by this connection */
      connection_id?: string;
      /** Reported by a source with one of these providers: a report format, the provider of a connection, or `manual`. Ignores case */
      source?: string[];
      /** Reported by no source with one of these providers */
      not_source?: string[];
      /** Reported by a source of one of these kinds: `import` for uploaded reports, `connection`, or `manual` for people */
      source_kind?: ('import' | 'connection' | 'manual')[];
      /** On this asset */
      asset_id?: string;
      /** On an asset whose name starts with this text, ignoring case, or that is known by this name: an image with its tag, a repository by its clone URL */
      asset?: string;
      /** On an asset of one of these types */
      asset_type?: AssetType[];
      /** Not on an asset of one of these types */
      not_asset_type?: AssetType[];
      /** In this build of the asset: its version, tag, commit or digest. Requires `asset_id` */
      asset_version?: string;
      /** Seen on one of these branches, environments or release lines. `default` is the default track of an asset until it has a name. Active findings match only while they are still there. So do closed ones that a pull request has brought back. What only pull requests have is listed only with this filter, `asset_version` or `import_id` */
      track?: string[];
      /** Not on this branch, environment or release line at present. Together with `track`: what a branch adds to another, which includes closed findings that a pull request has brought back, and no other closed ones */
      new_since_track?: string;
      /** On an asset of one of these owners, ignoring case */
      owner?: string[];
      /** On an asset of one of these criticalities */
      criticality?: Level[];
      /** On an asset with one of these exposures */
      exposure?: Exposure[];
      /** On an asset with one of these tags */
      asset_tag?: string[];
      /** On an asset with none of these tags */
      not_asset_tag?: string[];
      /** Created, reopened, updated or closed by this import */
      import_id?: string;
      /** With one of these CVE, GHSA or other public ids, or an alias of it that counts */
      cve?: string[];
      /** With none of these CVE, GHSA or other public ids, nor an alias of them that counts */
      not_cve?: string[];
      /** With one of these CWE numbers: `79` or `CWE-79` */
      cwe?: (number | string)[];
      /** In this component, ignoring case. The name without its group also matches: `log4j-core` and `org.apache.logging.log4j:log4j-core` */
      component?: string;
      /** Not in one of these components */
      not_component?: string[];
      /** In this file or below this folder, ignoring case. The path starts at the root of the repository or image: `src` does not match `frontend/src/a.ts` */
      path?: string;
      /** Not in one of these files and not below one of these folders, as for `path` */
      not_path?: string[];
      /** Found by a check with one of these ids of the tool, ignoring case */
      rule?: string[];
      /** Not found by a check with one of these ids */
      not_rule?: string[];
      /** Whether a source knows a fix */
      has_fix?: boolean;
      /** Whether the sources that still see the finding differ by two steps of severity or more */
      severity_disputed?: boolean;
      /** Linked to this work item */
      work_item_id?: string;
      /** Whether linked to a work item that is not cancelled */
      has_work_item?: boolean;
      /** Linked to a work item that is not cancelled and is assigned to one of these, ignoring case: e-mail addresses of members, or other names */
      assignee?: string[];
      /** Whether listed by CISA as known to be exploited */
      kev?: boolean;
      /** EPSS score of at least this value */
      epss_min?: number;
      /** Risk score of at least this value */
      risk_min?: number;
      /** Whether active, not suppressed and past the deadline */
      overdue?: boolean;
      /** Whether open or in progress, and known to be exploited, past the deadline or with a risk score of at least 70 */
      fix_first?: boolean;
      /** Whether a request to accept the risk waits for approval */
      acceptance_requested?: boolean;
      /** Whether all sources that still see the finding suppress it */
      suppressed?: boolean;
      /** With one of these assurances */
      assurance?: Assurance[];
      /** With one of these tags */
      tag?: string[];
      /** With none of these tags */
      not_tag?: string[];
      /** Words with at least two letters or digits. All must occur in the title, component, source package, version, path, rule, ids, CWEs or asset name of a finding. A word with three characters or more also matches the beginning of a longer word, except for the end of a host name such as `com`, but never its middle. Titles, components and asset names are found by each of their words and the parts between `. _ @ / : -`. A path is found by its beginning, by the name of the file and by the names of the 5 nearest folders; a rule by its id, by its last part and by the 5 parts before it, between `. / :`. URLs, descriptions and solutions are not searched. An id also finds its aliases that count. A package URL (purl) finds its component and version. Single letters are ignored */
      q?: string;
      /** Start of the range, inclusive: a date (00:00 UTC) or a date-time */
      first_seen_from?: string;
      /** End of the range, exclusive: a date (00:00 UTC) or a date-time */
      first_seen_to?: string;
      /** Start of the range, inclusive: a date (00:00 UTC) or a date-time */
      last_seen_from?: string;
      /** End of the range, exclusive: a date (00:00 UTC) or a date-time */
      last_seen_to?: string;
      /** Start of the range, inclusive: a date (00:00 UTC) or a date-time */
      created_from?: string;
      /** End of the range, exclusive: a date (00:00 UTC) or a date-time */
      created_to?: string;
      /** Start of the range, inclusive: a date (00:00 UTC) or a date-time */
      updated_from?: string;
      /** End of the range, exclusive: a date (00:00 UTC) or a date-time */
      updated_to?: string;
      /** Start of the range, inclusive: a date (00:00 UTC) or a date-time */
      due_from?: string;
      /** End of the range, exclusive: a date (00:00 UTC) or a date-time */
      due_to?: string;
      /** The filters whose values are counted. Default: all */
      by?: (
        | 'severity'
        | 'status'
        | 'source'
        | 'source_kind'
        | 'asset_type'
        | 'assurance'
        | 'criticality'
        | 'exposure'
        | 'kev'
        | 'has_fix'
        | 'overdue'
        | 'has_work_item'
      )[];
    };
    response: FindingFacets;
  };
  /** Explain the identity of a finding. Returns what makes records of reports belong to the finding: its weakness with all aliases, its component, the identifiers of its asset, ids of tools, and merges. */

  getFindingIdentity: {
    path: {
      /** ID (UUIDv7) */
      id: string;
    };
    response: FindingIdentity;
  };
  /** Get finding statistics. Returns counts of findings by severity, status, source and age, the number of overdue findings, the mean time to remediate, and for each interval what was opened, closed and due. Filters restrict the findings as in the list. */

  getFindingStats: {
    query?: {
      /** One of these severities */
      severity?: Severity[];
      /** None of these severities */
      not_severity?: Severity[];
      /** One of these statuses */
      status?: FindingStatus[];
      /** None of these statuses */
      not_status?: FindingStatus[];
      /** Reported by this connection */
      connection_id?: string;
      /** Reported by a source with one of these providers: a report format, the provider of a connection, or `manual`. Ignores case */
      source?: string[];
      /** Reported by no source with one of these providers */
      not_source?: string[];
      /** Reported by a source of one of these kinds: `import` for uploaded reports, `connection`, or `manual` for people */
      source_kind?: ('import' | 'connection' | 'manual')[];
      /** On this asset */
      asset_id?: string;
      /** On an asset whose name starts with this text, ignoring case, or that is known by this name: an image with its tag, a repository by its clone URL */
      asset?: string;
      /** On an asset of one of these types */
      asset_type?: AssetType[];
      /** Not on an asset of one of these types */
      not_asset_type?: AssetType[];
      /** In this build of the asset: its version, tag, commit or digest. Requires `asset_id` */
      asset_version?: string;
      /** Seen on one of these branches, environments or release lines. `default` is the default track of an asset until it has a name. Active findings match only while they are still there. So do closed ones that a pull request has brought back. What only pull requests have is listed only with this filter, `asset_version` or `import_id` */
      track?: string[];
      /** Not on this branch, environment or release line at present. Together with `track`: what a branch adds to another, which includes closed findings that a pull request has brought back, and no other closed ones */
      new_since_track?: string;
      /** On an asset of one of these owners, ignoring case */
      owner?: string[];
      /** On an asset of one of these criticalities */
      criticality?: Level[];
      /** On an asset with one of these exposures */
      exposure?: Exposure[];
      /** On an asset with one of these tags */
      asset_tag?: string[];
      /** On an asset with none of these tags */
      not_asset_tag?: string[];
      /** Created, reopened, updated or closed by this import */
      import_id?: string;
      /** With one of these CVE, GHSA or other public ids, or an alias of it that counts */
      cve?: string[];
      /** With none of these CVE, GHSA or other public ids, nor an alias of them that counts */
      not_cve?: string[];
      /** With one of these CWE numbers: `79` or `CWE-79` */
      cwe?: (number | string)[];
      /** In this component, ignoring case. The name without its group also matches: `log4j-core` and `org.apache.logging.log4j:log4j-core` */
      component?: string;
      /** Not in one of these components */
      not_component?: string[];
      /** In this file or below this folder, ignoring case. The path starts at the root of the repository or image: `src` does not match `frontend/src/a.ts` */
      path?: string;
      /** Not in one of these files and not below one of these folders, as for `path` */
      not_path?: string[];
      /** Found by a check with one of these ids of the tool, ignoring case */
      rule?: string[];
      /** Not found by a check with one of these ids */
      not_rule?: string[];
      /** Whether a source knows a fix */
      has_fix?: boolean;
      /** Whether the sources that still see the finding differ by two steps of severity or more */
      severity_disputed?: boolean;
      /** Linked to this work item */
      work_item_id?: string;
      /** Whether linked to a work item that is not cancelled */
      has_work_item?: boolean;
      /** Linked to a work item that is not cancelled and is assigned to one of these, ignoring case: e-mail addresses of members, or other names */
      assignee?: string[];
      /** Whether listed by CISA as known to be exploited */
      kev?: boolean;
      /** EPSS score of at least this value */
      epss_min?: number;
      /** Risk score of at least this value */
      risk_min?: number;
      /** Whether active, not suppressed and past the deadline */
      overdue?: boolean;
      /** Whether open or in progress, and known to be exploited, past the deadline or with a risk score of at least 70 */
      fix_first?: boolean;
      /** Whether a request to accept the risk waits for approval */
      acceptance_requested?: boolean;
      /** Whether all sources that still see the finding suppress it */
      suppressed?: boolean;
      /** With one of these assurances */
      assurance?: Assurance[];
      /** With one of these tags */
      tag?: string[];
      /** With none of these tags */
      not_tag?: string[];
      /** Words with at least two letters or digits. All must occur in the title, component, source package, version, path, rule, ids, CWEs or asset name of a finding. A word with three characters or more also matches the beginning of a longer word, except for the end of a host name such as `com`, but never its middle. Titles, components and asset names are found by each of their words and the parts between `. _ @ / : -`. A path is found by its beginning, by the name of the file and by the names of the 5 nearest folders; a rule by its id, by its last part and by the 5 parts before it, between `. / :`. URLs, descriptions and solutions are not searched. An id also finds its aliases that count. A package URL (purl) finds its component and version. Single letters are ignored */
      q?: string;
      /** Start of the range, inclusive: a date (00:00 UTC) or a date-time */
      first_seen_from?: string;
      /** End of the range, exclusive: a date (00:00 UTC) or a date-time */
      first_seen_to?: string;
      /** Start of the range, inclusive: a date (00:00 UTC) or a date-time */
      last_seen_from?: string;
      /** End of the range, exclusive: a date (00:00 UTC) or a date-time */
      last_seen_to?: string;
      /** Start of the range, inclusive: a date (00:00 UTC) or a date-time */
      created_from?: string;
      /** End of the range, exclusive: a date (00:00 UTC) or a date-time */
      created_to?: string;
      /** Start of the range, inclusive: a date (00:00 UTC) or a date-time */
      updated_from?: string;
      /** End of the range, exclusive: a date (00:00 UTC) or a date-time */
      updated_to?: string;
      /** Start of the range, inclusive: a date (00:00 UTC) or a date-time */
      due_from?: string;
      /** End of the range, exclusive: a date (00:00 UTC) or a date-time */
      due_to?: string;
      /** Number of days of `trend`. Default: 30 */
      days?: number;
      /** Length of the intervals of `trend`. Default: `day` */
      interval?: 'day' | 'week' | 'month';
    };
    response: FindingStats;
  };
  /** Get an import. Returns one import: its progress, what it changed, and which records were rejected and why. */

  getImport: {
    path: {
      /** ID (UUIDv7) */
      id: string;
    };
    response: Import;
  };
  /** Download the file of an import. Returns the report as it was uploaded, or what a connection collected. Supports range requests. Returns 404 if the file was deleted. Every download is recorded in the audit trail. */

  getImportFile: {
    path: {
      /** ID (UUIDv7) */
      id: string;
    };
    header?: {
      /** One range of bytes (RFC 9110). Default: everything */
      Range?: string;
      /** `Range` applies only if this is the current `ETag`. Otherwise the whole content is sent */
      'If-Range'?: string;
      /** ETags that the caller has. If one is current, the response is 304 */
      'If-None-Match'?: string;
    };
    response: Response;
  };
  /** Get the health of all connections. Returns status, error rates, staleness and the last error of every connection, and a summary. The values are computed from the runs of the last 7 days. Each poll of a ticketing system counts as a run. */

  getIntegrationHealth: {
    response: IntegrationHealth;
  };
  /** Get an invitation. Returns whose password a link sets. The token of the link is the only credential. */

  getInvitation: {
    path: {
      /** Token of the link, after `#token=` */
      token: string;
    };
    response: Invitation;
  };
  /** Get the latest checkpoint. Returns the signed size and root hash of your organization's transparency log. Keep the checkpoint: with it, the verifier can prove that the log of a later package extends the log you saw. With `Accept: text/plain`, the response is the signed note alone, as a file for the verifier. */

  getLogCheckpoint: {
    query?: {
      /** Epoch of the log. Default: the current epoch. */
      epoch?: number;
    };
    response: LogCheckpoint;
  };
  /** Get a log entry. Returns one entry of your organization's transparency log, the package that it belongs to, and whether that package was published. */

  getLogEntry: {
    path: {
      /** Index of the entry, from 0. */
      index: string;
    };
    query?: {
      /** Epoch of the log. Default: the current epoch. */
      epoch?: number;
    };
    response: LogEntry;
  };
  /** Get the current credential. Returns the person or API key behind the credential, its organization, role and permissions. */

  getMe: {
    response: Me;
  };
  /** Get a member. Returns one member of your organization. */

  getMember: {
    path: {
      /** ID (UUIDv7) */
      id: string;
    };
    response: Member;
  };
  /** Get your organization. Returns the organization that the credential belongs to. A credential gives access to one organization only. */

  getOrganization: {
    response: Organization;
  };
  /** Get what your organization stores. Returns how many objects your organization has and how much space they take. Sizes of files are exact. Sizes of rows are estimated from a sample of 1,000 rows. `policy.retention` of the organization says for how long objects are kept. */

  getOrganizationUsage: {
    response: OrganizationUsage;
  };
  /** Get a trusted pipeline. Returns one trusted pipeline with its conditions. */

  getPipelineTrust: {
    path: {
      /** ID (UUIDv7) */
      id: string;
    };
    response: PipelineTrust;
  };
  /** Get your preferences. Returns what you stored with `PUT /me/preferences`. All your sessions and API keys share it. An empty object if you stored nothing. */

  getPreferences: {
    response: Preferences;
  };
  /** Get a run. Returns the progress or the result of a run. */

  getRun: {
    path: {
      /** Id of the connection (UUIDv7) */
      id: string;
      /** Id of the run (UUIDv7) */
      run_id: string;
    };
    response: SyncRun;
  };
  /** Get facts about the service. Returns the version of the service, its limits and the ways to sign in. Needs no credential. */

  getService: {
    response: Service;
  };
  /** Get a shared evidence package. Returns the shared package: its conclusion, gaps, hashes and downloads, and whether it was superseded. The link is the only credential. */

  getSharedEvidencePackage: {
    path: {
      /** Token of the share link. */
      token: string;
    };
    response: SharedEvidencePackage;
  };
  /** Get the groups with the most active findings. Returns the assets, components, vulnerabilities or CWEs with the most active findings among those that match. */

  getTopFindings: {
    query?: {
      /** One of these severities */
      severity?: Severity[];
      /** None of these severities */
      not_severity?: Severity[];
      /** One of these statuses */
      status?: FindingStatus[];
      /** None of these statuses */
      not_status?: FindingStatus[];
      /** Reported by this connection */
      connection_id?: string;
      /** Reported by a source with one of these providers: a report format, the provider of a connection, or `manual`. Ignores case */
      source?: string[];
      /** Reported by no source with one of these providers */
      not_source?: string[];
      /** Reported by a source of one of these kinds: `import` for uploaded reports, `connection`, or `manual` for people */
      source_kind?: ('import' | 'connection' | 'manual')[];
      /** On this asset */
      asset_id?: string;
      /** On an asset whose name starts with this text, ignoring case, or that is known by this name: an image with its tag, a repository by its clone URL */
      asset?: string;
      /** On an asset of one of these types */
      asset_type?: AssetType[];
      /** Not on an asset of one of these types */
      not_asset_type?: AssetType[];
      /** In this build of the asset: its version, tag, commit or digest. Requires `asset_id` */
      asset_version?: string;
      /** Seen on one of these branches, environments or release lines. `default` is the default track of an asset until it has a name. Active findings match only while they are still there. So do closed ones that a pull request has brought back. What only pull requests have is listed only with this filter, `asset_version` or `import_id` */
      track?: string[];
      /** Not on this branch, environment or release line at present. Together with `track`: what a branch adds to another, which includes closed findings that a pull request has brought back, and no other closed ones */
      new_since_track?: string;
      /** On an asset of one of these owners, ignoring case */
      owner?: string[];
      /** On an asset of one of these criticalities */
      criticality?: Level[];
      /** On an asset with one of these exposures */
      exposure?: Exposure[];
      /** On an asset with one of these tags */
      asset_tag?: string[];
      /** On an asset with none of these tags */
      not_asset_tag?: string[];
      /** Created, reopened, updated or closed by this import */
      import_id?: string;
      /** With one of these CVE, GHSA or other public ids, or an alias of it that counts */
      cve?: string[];
      /** With none of these CVE, GHSA or other public ids, nor an alias of them that counts */
      not_cve?: string[];
      /** With one of these CWE numbers: `79` or `CWE-79` */
      cwe?: (number | string)[];
      /** In this component, ignoring case. The name without its group also matches: `log4j-core` and `org.apache.logging.log4j:log4j-core` */
      component?: string;
      /** Not in one of these components */
      not_component?: string[];
      /** In this file or below this folder, ignoring case. The path starts at the root of the repository or image: `src` does not match `frontend/src/a.ts` */
      path?: string;
      /** Not in one of these files and not below one of these folders, as for `path` */
      not_path?: string[];
      /** Found by a check with one of these ids of the tool, ignoring case */
      rule?: string[];
      /** Not found by a check with one of these ids */
      not_rule?: string[];
      /** Whether a source knows a fix */
      has_fix?: boolean;
      /** Whether the sources that still see the finding differ by two steps of severity or more */
      severity_disputed?: boolean;
      /** Linked to this work item */
      work_item_id?: string;
      /** Whether linked to a work item that is not cancelled */
      has_work_item?: boolean;
      /** Linked to a work item that is not cancelled and is assigned to one of these, ignoring case: e-mail addresses of members, or other names */
      assignee?: string[];
      /** Whether listed by CISA as known to be exploited */
      kev?: boolean;
      /** EPSS score of at least this value */
      epss_min?: number;
      /** Risk score of at least this value */
      risk_min?: number;
      /** Whether active, not suppressed and past the deadline */
      overdue?: boolean;
      /** Whether open or in progress, and known to be exploited, past the deadline or with a risk score of at least 70 */
      fix_first?: boolean;
      /** Whether a request to accept the risk waits for approval */
      acceptance_requested?: boolean;
      /** Whether all sources that still see the finding suppress it */
      suppressed?: boolean;
      /** With one of these assurances */
      assurance?: Assurance[];
      /** With one of these tags */
      tag?: string[];
      /** With none of these tags */
      not_tag?: string[];
      /** Words with at least two letters or digits. All must occur in the title, component, source package, version, path, rule, ids, CWEs or asset name of a finding. A word with three characters or more also matches the beginning of a longer word, except for the end of a host name such as `com`, but never its middle. Titles, components and asset names are found by each of their words and the parts between `. _ @ / : -`. A path is found by its beginning, by the name of the file and by the names of the 5 nearest folders; a rule by its id, by its last part and by the 5 parts before it, between `. / :`. URLs, descriptions and solutions are not searched. An id also finds its aliases that count. A package URL (purl) finds its component and version. Single letters are ignored */
      q?: string;
      /** Start of the range, inclusive: a date (00:00 UTC) or a date-time */
      first_seen_from?: string;
      /** End of the range, exclusive: a date (00:00 UTC) or a date-time */
      first_seen_to?: string;
      /** Start of the range, inclusive: a date (00:00 UTC) or a date-time */
      last_seen_from?: string;
      /** End of the range, exclusive: a date (00:00 UTC) or a date-time */
      last_seen_to?: string;
      /** Start of the range, inclusive: a date (00:00 UTC) or a date-time */
      created_from?: string;
      /** End of the range, exclusive: a date (00:00 UTC) or a date-time */
      created_to?: string;
      /** Start of the range, inclusive: a date (00:00 UTC) or a date-time */
      updated_from?: string;
      /** End of the range, exclusive: a date (00:00 UTC) or a date-time */
      updated_to?: string;
      /** Start of the range, inclusive: a date (00:00 UTC) or a date-time */
      due_from?: string;
      /** End of the range, exclusive: a date (00:00 UTC) or a date-time */
      due_to?: string;
      /** What the findings of a group have in common. A finding with several CVEs or CWEs is in several groups. Default: `vulnerability` */
      by?: 'asset' | 'component' | 'vulnerability' | 'cwe';
      /** Number of groups. Default: 10 */
      limit?: number;
    };
    response: FindingTop;
  };
  /** Get a saved view. Returns one of your own views, or one of the organization. */

  getView: {
    path: {
      /** Id of the view (UUIDv7) */
      id: string;
    };
    response: View;
  };
  /** Get a webhook. Returns the webhook's settings, status and the last characters of its signing secret. */

  getWebhook: {
    path: {
      /** ID (UUIDv7) */
      id: string;
    };
    response: Webhook;
  };
  /** Get a work item. Returns one work item with the counts of its findings, its approvals and its tickets. `GET /work-items/{id}/findings` lists the findings. */

  getWorkItem: {
    path: {
      /** Id of the work item (UUIDv7) */
      id: string;
    };
    response: WorkItem;
  };
  /** Get the state of a work item to approve. Returns what an approval would be about: the title, the policy, each finding with its state and severity, findings that were removed, and artifacts. Send the digest with your decision. Changes that do not matter for the result, such as comments or new scores, do not change the digest. */

  getWorkItemState: {
    path: {
      /** Id of the work item (UUIDv7) */
      id: string;
    };
    response: WorkItemState;
  };
  /** Invite a member or reset a password. Creates a link with which the member chooses a password, so that nobody else knows it. The link works once, for 24 hours. It replaces an earlier link of the member, and ends if the role or the password of the member changes. The current password works until the link is used. */

  inviteMember: {
    path: {
      /** ID (UUIDv7) */
      id: string;
    };
    response: InvitationCreated;
  };
  /** List API keys. Returns the API keys of your organization, including revoked and expired ones. The keys themselves are not stored and cannot be returned. */

  listApiKeys: {
    query?: {
      /** Maximum number of items per page */
      limit?: number;
      /** `next_cursor` or `prev_cursor` of another page of the same list. Default: the first page */
      cursor?: string;
      /** Sort key. A leading `-` sorts in descending order. Ties are sorted by ID */
      sort?: 'created_at' | '-created_at';
      /** How to count the items on all pages. `none`: not at all. `bounded`: counting stops at 10,000. `exact`: all items are counted, which can be slow */
      total?: 'none' | 'bounded' | 'exact';
    };
    response: ApiKeyList;
  };
  /** List artifacts of a work item. Returns the artifacts of a work item, newest first. Includes superseded and removed artifacts unless you filter them out. */

  listArtifacts: {
    path: {
      /** Id of the work item. */
      work_item_id: string;
    };
    query?: {
      /** Maximum number of items per page */
      limit?: number;
      /** `next_cursor` or `prev_cursor` of another page of the same list. Default: the first page */
      cursor?: string;
      /** Sort key. A leading `-` sorts in descending order. Ties are sorted by ID */
      sort?: 'added_at' | '-added_at';
      /** How to count the items on all pages. `none`: not at all. `bounded`: counting stops at 10,000. `exact`: all items are counted, which can be slow */
      total?: 'none' | 'bounded' | 'exact';
      /** Only artifacts of these types. */
      type?: ArtifactType[];
      /** `true`: only superseded artifacts. `false`: only the others. Default: both. */
      superseded?: boolean;
      /** `true`: only removed artifacts. `false`: only the others. Default: both. */
      removed?: boolean;
    };
    response: ArtifactList;
  };
  /** List the tracks of an asset. Returns what exists of the asset side by side: branches, environments, release lines and pull requests. A scan of one track closes nothing on another. */

  listAssetTracks: {
    path: {
      /** ID (UUIDv7) */
      id: string;
    };
    query?: {
      /** Maximum number of items per page */
      limit?: number;
      /** `next_cursor` or `prev_cursor` of another page of the same list. Default: the first page */
      cursor?: string;
      /** Sort key. A leading `-` sorts in descending order. Ties are sorted by ID */
      sort?: 'name' | '-name';
      /** How to count the items on all pages. `none`: not at all. `bounded`: counting stops at 10,000. `exact`: all items are counted, which can be slow */
      total?: 'none' | 'bounded' | 'exact';
    };
    response: TrackList;
  };
  /** List the builds of an asset. Returns the builds of the asset that were scanned: tags, releases, digests and commits. The one that was scanned last comes first. */

  listAssetVersions: {
    path: {
      /** ID (UUIDv7) */
      id: string;
    };
    query?: {
      /** Maximum number of items per page */
      limit?: number;
      /** `next_cursor` or `prev_cursor` of another page of the same list. Default: the first page */
      cursor?: string;
      /** Sort key. A leading `-` sorts in descending order. Ties are sorted by ID */
      sort?: 'last_scan' | '-last_scan' | 'first_scan' | '-first_scan';
      /** How to count the items on all pages. `none`: not at all. `bounded`: counting stops at 10,000. `exact`: all items are counted, which can be slow */
      total?: 'none' | 'bounded' | 'exact';
    };
    response: AssetVersionList;
  };
  /** List assets. Returns the assets that scanner reports and people have named, newest first, with the numbers of their active findings. An asset must match all filters. Several values of one filter are alternatives. */

  listAssets: {
    query?: {
      /** Maximum number of items per page */
      limit?: number;
      /** `next_cursor` or `prev_cursor` of another page of the same list. Default: the first page */
      cursor?: string;
      /** Sort key. A leading `-` sorts in descending order. Ties are sorted by ID */
      sort?: 'created_at' | '-created_at' | 'name' | '-name' | 'active' | '-active' | 'max_risk' | '-max_risk';
      /** How to count the items on all pages. `none`: not at all. `bounded`: counting stops at 10,000. `exact`: all items are counted, which can be slow */
      total?: 'none' | 'bounded' | 'exact';
      /** Kinds of asset, separated by commas */
      type?: AssetType[];
      /** First characters of the name, ignoring case */
      name?: string;
      /** Criticalities, separated by commas */
      criticality?: Level[];
      /** Exposures, separated by commas */
      exposure?: Exposure[];
      /** Tags, separated by commas. An asset matches if it has one of them */
      tag?: string[];
      /** Owners, separated by commas, ignoring case */
      owner?: string[];
      /** Whether the asset has active findings */
      has_findings?: boolean;
      /** Text in the name or the owner, ignoring case */
      q?: string;
      /** `true`: only retired assets. `false`: only assets in use. Default: both */
      retired?: boolean;
    };
    response: AssetList;
  };
  /** List audit events. Returns who changed which object, newest first. Every change writes its audit event in the same transaction. Audit events are never changed or deleted. */

  listAuditEvents: {
    query?: {
      /** Maximum number of items per page */
      limit?: number;
      /** `next_cursor` or `prev_cursor` of another page of the same list. Default: the first page */
      cursor?: string;
      /** Sort key. A leading `-` sorts in descending order. Ties are sorted by ID */
      sort?: 'occurred_at' | '-occurred_at';
      /** How to count the items on all pages. `none`: not at all. `bounded`: counting stops at 10,000. `exact`: all items are counted, which can be slow */
      total?: 'none' | 'bounded' | 'exact';
      /** Id of the actor */
      actor_id?: string;
      /** Id of the person behind the actor */
      person_id?: string;
      /** Actions such as `api_key.created`, separated by commas */
      action?: string[];
      /** Kind of object, such as `api_key` */
      object_type?: string;
      /** Id of the object */
      object_id?: string;
      /** Id of the request that made the change */
      request_id?: string;
      /** Start of the range, inclusive: a date (00:00 UTC) or a date-time */
      occurred_from?: string;
      /** End of the range, exclusive: a date (00:00 UTC) or a date-time */
      occurred_to?: string;
    };
    response: AuditEventList;
  };
  /** List connections. Returns the connections of your organization with their latest run, newest first. Credentials are never returned. */

  listConnections: {
    query?: {
      /** Maximum number of items per page */
      limit?: number;
      /** `next_cursor` or `prev_cursor` of another page of the same list. Default: the first page */
      cursor?: string;
      /** Sort key. A leading `-` sorts in descending order. Ties are sorted by ID */
      sort?: 'created_at' | '-created_at';
      /** How to count the items on all pages. `none`: not at all. `bounded`: counting stops at 10,000. `exact`: all items are counted, which can be slow */
      total?: 'none' | 'bounded' | 'exact';
      /** Connections of any of these kinds */
      kind?: ConnectorKind[];
      /** Connections of any of these providers */
      provider?: string[];
    };
    response: ConnectionList;
  };
  /** List tickets that are out of sync. Returns all tickets of your organization that differ from their work items, are gone, paused or failed, or whose vendor cannot be polled. Each ticket lists the differing fields with both values. */

  listDriftedTickets: {
    query?: {
      /** Maximum number of items per page */
      limit?: number;
      /** `next_cursor` or `prev_cursor` of another page of the same list. Default: the first page */
      cursor?: string;
      /** Sort key. A leading `-` sorts in descending order. Ties are sorted by ID */
      sort?: 'created_at' | '-created_at';
      /** How to count the items on all pages. `none`: not at all. `bounded`: counting stops at 10,000. `exact`: all items are counted, which can be slow */
      total?: 'none' | 'bounded' | 'exact';
    };
    response: DriftedTicketList;
  };
  /** List signing keys. Returns every public key that ever signed a package or a checkpoint of a transparency log. Keys in use come first. Save the response as keys.json for `rrs-verify --keys`, which accepts exactly this form. Compare the fingerprints with those that you received through another channel: keys from this endpoint alone prove nothing. */

  listEvidenceKeys: {
    response: EvidenceKeys;
  };
  /** List evidence packages. Returns your organization's evidence packages, newest first. Packages are ordered by the time of their request. */

  listEvidencePackages: {
    query?: {
      /** Maximum number of items per page */
      limit?: number;
      /** `next_cursor` or `prev_cursor` of another page of the same list. Default: the first page */
      cursor?: string;
      /** Sort key. A leading `-` sorts in descending order. Ties are sorted by ID */
      sort?: 'generated_at' | '-generated_at';
      /** How to count the items on all pages. `none`: not at all. `bounded`: counting stops at 10,000. `exact`: all items are counted, which can be slow */
      total?: 'none' | 'bounded' | 'exact';
      /** Only packages with one of these statuses. */
      status?: PackageStatus[];
      /** Start of the range, inclusive: a date (00:00 UTC) or a date-time */
      generated_from?: string;
      /** End of the range, exclusive: a date (00:00 UTC) or a date-time */
      generated_to?: string;
      /** Id of a work item, to list only its packages. */
      work_item_id?: string;
    };
    response: EvidencePackageList;
  };
  /** List the comments on a finding. Returns the comments on a finding, newest first. Withdrawn comments are listed without their text. */

  listFindingComments: {
    path: {
      /** Id of the finding or work item (UUIDv7) */
      id: string;
    };
    query?: {
      /** Maximum number of items per page */
      limit?: number;
      /** `next_cursor` or `prev_cursor` of another page of the same list. Default: the first page */
      cursor?: string;
      /** Sort key. A leading `-` sorts in descending order. Ties are sorted by ID */
      sort?: 'created_at' | '-created_at';
      /** How to count the items on all pages. `none`: not at all. `bounded`: counting stops at 10,000. `exact`: all items are counted, which can be slow */
      total?: 'none' | 'bounded' | 'exact';
    };
    response: CommentList;
  };
  /** List groups of findings. Returns the findings that match, grouped by asset, component, vulnerability or CWE, highest risk first by default. Findings without one are in no group. All findings that match are read, which takes longer than a list if there are many. */

  listFindingGroups: {
    query?: {
      /** Maximum number of items per page */
      limit?: number;
      /** `next_cursor` or `prev_cursor` of another page of the same list. Default: the first page */
      cursor?: string;
      /** Sort key. A leading `-` sorts in descending order. Ties are sorted by ID */
      sort?: 'max_risk' | '-max_risk' | 'count' | '-count' | 'active' | '-active' | 'assets' | '-assets';
      /** How to count the items on all pages. `none`: not at all. `bounded`: counting stops at 10,000. `exact`: all items are counted, which can be slow */
      total?: 'none' | 'bounded' | 'exact';
      /** One of these severities */
      severity?: Severity[];
      /** None of these severities */
      not_severity?: Severity[];
      /** One of these statuses */
      status?: FindingStatus[];
      /** None of these statuses */
      not_status?: FindingStatus[];
      /** Reported by this connection */
      connection_id?: string;
      /** Reported by a source with one of these providers: a report format, the provider of a connection, or `manual`. Ignores case */
      source?: string[];
      /** Reported by no source with one of these providers */
      not_source?: string[];
      /** Reported by a source of one of these kinds: `import` for uploaded reports, `connection`, or `manual` for people */
      source_kind?: ('import' | 'connection' | 'manual')[];
      /** On this asset */
      asset_id?: string;
      /** On an asset whose name starts with this text, ignoring case, or that is known by this name: an image with its tag, a repository by its clone URL */
      asset?: string;
      /** On an asset of one of these types */
      asset_type?: AssetType[];
      /** Not on an asset of one of these types */
      not_asset_type?: AssetType[];
      /** In this build of the asset: its version, tag, commit or digest. Requires `asset_id` */
      asset_version?: string;
      /** Seen on one of these branches, environments or release lines. `default` is the default track of an asset until it has a name. Active findings match only while they are still there. So do closed ones that a pull request has brought back. What only pull requests have is listed only with this filter, `asset_version` or `import_id` */
      track?: string[];
      /** Not on this branch, environment or release line at present. Together with `track`: what a branch adds to another, which includes closed findings that a pull request has brought back, and no other closed ones */
      new_since_track?: string;
      /** On an asset of one of these owners, ignoring case */
      owner?: string[];
      /** On an asset of one of these criticalities */
      criticality?: Level[];
      /** On an asset with one of these exposures */
      exposure?: Exposure[];
      /** On an asset with one of these tags */
      asset_tag?: string[];
      /** On an asset with none of these tags */
      not_asset_tag?: string[];
      /** Created, reopened, updated or closed by this import */
      import_id?: string;
      /** With one of these CVE, GHSA or other public ids, or an alias of it that counts */
      cve?: string[];
      /** With none of these CVE, GHSA or other public ids, nor an alias of them that counts */
      not_cve?: string[];
      /** With one of these CWE numbers: `79` or `CWE-79` */
      cwe?: (number | string)[];
      /** In this component, ignoring case. The name without its group also matches: `log4j-core` and `org.apache.logging.log4j:log4j-core` */
      component?: string;
      /** Not in one of these components */
      not_component?: string[];
      /** In this file or below this folder, ignoring case. The path starts at the root of the repository or image: `src` does not match `frontend/src/a.ts` */
      path?: string;
      /** Not in one of these files and not below one of these folders, as for `path` */
      not_path?: string[];
      /** Found by a check with one of these ids of the tool, ignoring case */
      rule?: string[];
      /** Not found by a check with one of these ids */
      not_rule?: string[];
      /** Whether a source knows a fix */
      has_fix?: boolean;
      /** Whether the sources that still see the finding differ by two steps of severity or more */
      severity_disputed?: boolean;
      /** Linked to this work item */
      work_item_id?: string;
      /** Whether linked to a work item that is not cancelled */
      has_work_item?: boolean;
      /** Linked to a work item that is not cancelled and is assigned to one of these, ignoring case: e-mail addresses of members, or other names */
      assignee?: string[];
      /** Whether listed by CISA as known to be exploited */
      kev?: boolean;
      /** EPSS score of at least this value */
      epss_min?: number;
      /** Risk score of at least this value */
      risk_min?: number;
      /** Whether active, not suppressed and past the deadline */
      overdue?: boolean;
      /** Whether open or in progress, and known to be exploited, past the deadline or with a risk score of at least 70 */
      fix_first?: boolean;
      /** Whether a request to accept the risk waits for approval */
      acceptance_requested?: boolean;
      /** Whether all sources that still see the finding suppress it */
      suppressed?: boolean;
      /** With one of these assurances */
      assurance?: Assurance[];
      /** With one of these tags */
      tag?: string[];
      /** With none of these tags */
      not_tag?: string[];
      /** Words with at least two letters or digits. All must occur in the title, component, source package, version, path, rule, ids, CWEs or asset name of a finding. A word with three characters or more also matches the beginning of a longer word, except for the end of a host name such as `com`, but never its middle. Titles, components and asset names are found by each of their words and the parts between `. _ @ / : -`. A path is found by its beginning, by the name of the file and by the names of the 5 nearest folders; a rule by its id, by its last part and by the 5 parts before it, between `. / :`. URLs, descriptions and solutions are not searched. An id also finds its aliases that count. A package URL (purl) finds its component and version. Single letters are ignored */
      q?: string;
      /** Start of the range, inclusive: a date (00:00 UTC) or a date-time */
      first_seen_from?: string;
      /** End of the range, exclusive: a date (00:00 UTC) or a date-time */
      first_seen_to?: string;
      /** Start of the range, inclusive: a date (00:00 UTC) or a date-time */
      last_seen_from?: string;
      /** End of the range, exclusive: a date (00:00 UTC) or a date-time */
      last_seen_to?: string;
      /** Start of the range, inclusive: a date (00:00 UTC) or a date-time */
      created_from?: string;
      /** End of the range, exclusive: a date (00:00 UTC) or a date-time */
      created_to?: string;
      /** Start of the range, inclusive: a date (00:00 UTC) or a date-time */
      updated_from?: string;
      /** End of the range, exclusive: a date (00:00 UTC) or a date-time */
      updated_to?: string;
      /** Start of the range, inclusive: a date (00:00 UTC) or a date-time */
      due_from?: string;
      /** End of the range, exclusive: a date (00:00 UTC) or a date-time */
      due_to?: string;
      /** What the findings of a group have in common. A finding with several CVEs or CWEs is in several groups. Default: `vulnerability` */
      by?: 'asset' | 'component' | 'vulnerability' | 'cwe';
    };
    response: FindingGroupList;
  };
  /** List the history of a finding. Returns all changes of the finding by people, scans and the service, newest first. */

  listFindingHistory: {
    path: {
      /** ID (UUIDv7) */
      id: string;
    };
    query?: {
      /** Maximum number of items per page */
      limit?: number;
      /** `next_cursor` or `prev_cursor` of another page of the same list. Default: the first page */
      cursor?: string;
      /** Sort key. A leading `-` sorts in descending order. Ties are sorted by ID */
      sort?: 'occurred_at' | '-occurred_at';
      /** How to count the items on all pages. `none`: not at all. `bounded`: counting stops at 10,000. `exact`: all items are counted, which can be slow */
      total?: 'none' | 'bounded' | 'exact';
    };
    response: FindingHistoryList;
  };
  /** List the occurrences of a finding. Returns every place of the asset where a source reports the finding, or has reported it: paths, URLs, resources, ports and packages. */

  listFindingOccurrences: {
    path: {
      /** ID (UUIDv7) */
      id: string;
    };
    query?: {
      /** Maximum number of items per page */
      limit?: number;
      /** `next_cursor` or `prev_cursor` of another page of the same list. Default: the first page */
      cursor?: string;
      /** Sort key. A leading `-` sorts in descending order. Ties are sorted by ID */
      sort?: 'place' | '-place' | 'first_seen' | '-first_seen';
      /** How to count the items on all pages. `none`: not at all. `bounded`: counting stops at 10,000. `exact`: all items are counted, which can be slow */
      total?: 'none' | 'bounded' | 'exact';
    };
    response: OccurrenceList;
  };
  /** List findings. Returns the findings of your organization, highest risk first by default. A finding must match all filters. Several values of one filter are alternatives. */

  listFindings: {
    query?: {
      /** Maximum number of items per page */
      limit?: number;
      /** `next_cursor` or `prev_cursor` of another page of the same list. Default: the first page */
      cursor?: string;
      /** Sort key. A leading `-` sorts in descending order. Ties are sorted by ID */
      sort?:
        | 'risk_score'
        | '-risk_score'
        | 'severity'
        | '-severity'
        | 'first_seen'
        | '-first_seen'
        | 'last_seen'
        | '-last_seen'
        | 'created_at'
        | '-created_at'
        | 'updated_at'
        | '-updated_at'
        | 'due_at'
        | '-due_at';
      /** How to count the items on all pages. `none`: not at all. `bounded`: counting stops at 10,000. `exact`: all items are counted, which can be slow */
      total?: 'none' | 'bounded' | 'exact';
      /** One of these severities */
      severity?: Severity[];
      /** None of these severities */
      not_severity?: Severity[];
      /** One of these statuses */
      status?: FindingStatus[];
      /** None of these statuses */
      not_status?: FindingStatus[];
      /** Reported by this connection */
      connection_id?: string;
      /** Reported by a source with one of these providers: a report format, the provider of a connection, or `manual`. Ignores case */
      source?: string[];
      /** Reported by no source with one of these providers */
      not_source?: string[];
      /** Reported by a source of one of these kinds: `import` for uploaded reports, `connection`, or `manual` for people */
      source_kind?: ('import' | 'connection' | 'manual')[];
      /** On this asset */
      asset_id?: string;
      /** On an asset whose name starts with this text, ignoring case, or that is known by this name: an image with its tag, a repository by its clone URL */
      asset?: string;
      /** On an asset of one of these types */
      asset_type?: AssetType[];
      /** Not on an asset of one of these types */
      not_asset_type?: AssetType[];
      /** In this build of the asset: its version, tag, commit or digest. Requires `asset_id` */
      asset_version?: string;
      /** Seen on one of these branches, environments or release lines. `default` is the default track of an asset until it has a name. Active findings match only while they are still there. So do closed ones that a pull request has brought back. What only pull requests have is listed only with this filter, `asset_version` or `import_id` */
      track?: string[];
      /** Not on this branch, environment or release line at present. Together with `track`: what a branch adds to another, which includes closed findings that a pull request has brought back, and no other closed ones */
      new_since_track?: string;
      /** On an asset of one of these owners, ignoring case */
      owner?: string[];
      /** On an asset of one of these criticalities */
      criticality?: Level[];
      /** On an asset with one of these exposures */
      exposure?: Exposure[];
      /** On an asset with one of these tags */
      asset_tag?: string[];
      /** On an asset with none of these tags */
      not_asset_tag?: string[];
      /** Created, reopened, updated or closed by this import */
      import_id?: string;
      /** With one of these CVE, GHSA or other public ids, or an alias of it that counts */
      cve?: string[];
      /** With none of these CVE, GHSA or other public ids, nor an alias of them that counts */
      not_cve?: string[];
      /** With one of these CWE numbers: `79` or `CWE-79` */
      cwe?: (number | string)[];
      /** In this component, ignoring case. The name without its group also matches: `log4j-core` and `org.apache.logging.log4j:log4j-core` */
      component?: string;
      /** Not in one of these components */
      not_component?: string[];
      /** In this file or below this folder, ignoring case. The path starts at the root of the repository or image: `src` does not match `frontend/src/a.ts` */
      path?: string;
      /** Not in one of these files and not below one of these folders, as for `path` */
      not_path?: string[];
      /** Found by a check with one of these ids of the tool, ignoring case */
      rule?: string[];
      /** Not found by a check with one of these ids */
      not_rule?: string[];
      /** Whether a source knows a fix */
      has_fix?: boolean;
      /** Whether the sources that still see the finding differ by two steps of severity or more */
      severity_disputed?: boolean;
      /** Linked to this work item */
      work_item_id?: string;
      /** Whether linked to a work item that is not cancelled */
      has_work_item?: boolean;
      /** Linked to a work item that is not cancelled and is assigned to one of these, ignoring case: e-mail addresses of members, or other names */
      assignee?: string[];
      /** Whether listed by CISA as known to be exploited */
      kev?: boolean;
      /** EPSS score of at least this value */
      epss_min?: number;
      /** Risk score of at least this value */
      risk_min?: number;
      /** Whether active, not suppressed and past the deadline */
      overdue?: boolean;
      /** Whether open or in progress, and known to be exploited, past the deadline or with a risk score of at least 70 */
      fix_first?: boolean;
      /** Whether a request to accept the risk waits for approval */
      acceptance_requested?: boolean;
      /** Whether all sources that still see the finding suppress it */
      suppressed?: boolean;
      /** With one of these assurances */
      assurance?: Assurance[];
      /** With one of these tags */
      tag?: string[];
      /** With none of these tags */
      not_tag?: string[];
      /** Words with at least two letters or digits. All must occur in the title, component, source package, version, path, rule, ids, CWEs or asset name of a finding. A word with three characters or more also matches the beginning of a longer word, except for the end of a host name such as `com`, but never its middle. Titles, components and asset names are found by each of their words and the parts between `. _ @ / : -`. A path is found by its beginning, by the name of the file and by the names of the 5 nearest folders; a rule by its id, by its last part and by the 5 parts before it, between `. / :`. URLs, descriptions and solutions are not searched. An id also finds its aliases that count. A package URL (purl) finds its component and version. Single letters are ignored */
      q?: string;
      /** Start of the range, inclusive: a date (00:00 UTC) or a date-time */
      first_seen_from?: string;
      /** End of the range, exclusive: a date (00:00 UTC) or a date-time */
      first_seen_to?: string;
      /** Start of the range, inclusive: a date (00:00 UTC) or a date-time */
      last_seen_from?: string;
      /** End of the range, exclusive: a date (00:00 UTC) or a date-time */
      last_seen_to?: string;
      /** Start of the range, inclusive: a date (00:00 UTC) or a date-time */
      created_from?: string;
      /** End of the range, exclusive: a date (00:00 UTC) or a date-time */
      created_to?: string;
      /** Start of the range, inclusive: a date (00:00 UTC) or a date-time */
      updated_from?: string;
      /** End of the range, exclusive: a date (00:00 UTC) or a date-time */
      updated_to?: string;
      /** Start of the range, inclusive: a date (00:00 UTC) or a date-time */
      due_from?: string;
      /** End of the range, exclusive: a date (00:00 UTC) or a date-time */
      due_to?: string;
    };
    response: FindingList;
  };
  /** List the changes of an import. Returns the findings that the import created, reopened, closed or updated, each once, most severe first. With `kind=unchanged`, also those that it saw and did not change, as long as it is the newest scan of its track by its source. Includes findings that only a pull request has. A dry run has no changes: see its counts. */

  listImportChanges: {
    path: {
      /** ID (UUIDv7) */
      id: string;
    };
    query?: {
      /** Maximum number of items per page */
      limit?: number;
      /** `next_cursor` or `prev_cursor` of another page of the same list. Default: the first page */
      cursor?: string;
      /** Sort key. A leading `-` sorts in descending order. Ties are sorted by ID */
      sort?: 'severity' | '-severity';
      /** How to count the items on all pages. `none`: not at all. `bounded`: counting stops at 10,000. `exact`: all items are counted, which can be slow */
      total?: 'none' | 'bounded' | 'exact';
      /** One of these kinds. Default: all except `unchanged`, which is known only of the newest scan of each asset and branch by its source */
      kind?: ImportChangeKind[];
    };
    response: ImportChangeList;
  };
  /** List report formats. Returns the report formats that can be imported. The format of a file is detected from its content unless you name it. */

  listImportFormats: {
    response: ImportFormats;
  };
  /** List imports. Returns the imports of uploaded reports, newest first, without their rejected records. An import must match all filters. Several values of one filter are alternatives. */

  listImports: {
    query?: {
      /** Maximum number of items per page */
      limit?: number;
      /** `next_cursor` or `prev_cursor` of another page of the same list. Default: the first page */
      cursor?: string;
      /** Sort key. A leading `-` sorts in descending order. Ties are sorted by ID */
      sort?: 'created_at' | '-created_at';
      /** How to count the items on all pages. `none`: not at all. `bounded`: counting stops at 10,000. `exact`: all items are counted, which can be slow */
      total?: 'none' | 'bounded' | 'exact';
      /** With one of these statuses */
      status?: ImportStatus[];
      /** In one of these formats */
      format?: ReportFormat[];
    };
    response: ImportList;
  };
  /** List providers. Returns every provider that you can connect, with the JSON Schemas of its configuration and credentials. They contain all that a form needs. */

  listIntegrationProviders: {
    response: IntegrationCatalog;
  };
  /** List members. Returns the members of your organization. */

  listMembers: {
    query?: {
      /** Text in the name or the e-mail address, ignoring case */
      q?: string;
      /** Maximum number of items per page */
      limit?: number;
      /** `next_cursor` or `prev_cursor` of another page of the same list. Default: the first page */
      cursor?: string;
      /** Sort key. A leading `-` sorts in descending order. Ties are sorted by ID */
      sort?: 'created_at' | '-created_at';
      /** How to count the items on all pages. `none`: not at all. `bounded`: counting stops at 10,000. `exact`: all items are counted, which can be slow */
      total?: 'none' | 'bounded' | 'exact';
    };
    response: MemberList;
  };
  /** List your sessions. Returns the browser sessions of the member behind the credential, the newest first. Empty for an API key that belongs to no member. */

  listOwnSessions: {
    response: SessionList;
  };
  /** List trusted pipelines. Returns the pipelines that your organization trusts. */

  listPipelineTrusts: {
    query?: {
      /** Maximum number of items per page */
      limit?: number;
      /** `next_cursor` or `prev_cursor` of another page of the same list. Default: the first page */
      cursor?: string;
      /** Sort key. A leading `-` sorts in descending order. Ties are sorted by ID */
      sort?: 'created_at' | '-created_at';
      /** How to count the items on all pages. `none`: not at all. `bounded`: counting stops at 10,000. `exact`: all items are counted, which can be slow */
      total?: 'none' | 'bounded' | 'exact';
    };
    response: PipelineTrustList;
  };
  /** List the runs of a connection. Returns the runs of a connection with counts, requests and errors, newest first. Polls of ticketing systems are kept for eight days. */

  listRuns: {
    path: {
      /** Id of the connection (UUIDv7) */
      id: string;
    };
    query?: {
      /** Maximum number of items per page */
      limit?: number;
      /** `next_cursor` or `prev_cursor` of another page of the same list. Default: the first page */
      cursor?: string;
      /** Sort key. A leading `-` sorts in descending order. Ties are sorted by ID */
      sort?: 'created_at' | '-created_at';
      /** How to count the items on all pages. `none`: not at all. `bounded`: counting stops at 10,000. `exact`: all items are counted, which can be slow */
      total?: 'none' | 'bounded' | 'exact';
    };
    response: SyncRunList;
  };
  /** List share links. Returns the share links of an evidence package with their recipients and usage, including expired and revoked links. The URLs are not stored. */

  listShareLinks: {
    path: {
      /** Id of the evidence package. */
      package_id: string;
    };
    query?: {
      /** Maximum number of items per page */
      limit?: number;
      /** `next_cursor` or `prev_cursor` of another page of the same list. Default: the first page */
      cursor?: string;
      /** Sort key. A leading `-` sorts in descending order. Ties are sorted by ID */
      sort?: 'created_at' | '-created_at';
      /** How to count the items on all pages. `none`: not at all. `bounded`: counting stops at 10,000. `exact`: all items are counted, which can be slow */
      total?: 'none' | 'bounded' | 'exact';
    };
    response: ShareLinkList;
  };
  /** List sign-in methods. Returns the ways in which members can sign in. Needs no credential. */

  listSignInMethods: {
    response: SignInMethods;
  };
  /** List sources. Returns what reports findings: tools whose reports are uploaded, connections, and people. It shows when each source last scanned something. */

  listSources: {
    query?: {
      /** Maximum number of items per page */
      limit?: number;
      /** `next_cursor` or `prev_cursor` of another page of the same list. Default: the first page */
      cursor?: string;
      /** Sort key. A leading `-` sorts in descending order. Ties are sorted by ID */
      sort?: 'created_at' | '-created_at';
      /** How to count the items on all pages. `none`: not at all. `bounded`: counting stops at 10,000. `exact`: all items are counted, which can be slow */
      total?: 'none' | 'bounded' | 'exact';
      /** `true`: only retired sources. `false`: only sources in use. Default: both */
      retired?: boolean;
      /** Whether the source has scanned nothing for 45 days */
      stale?: boolean;
    };
    response: SourceList;
  };
  /** List tags. Returns the tags of findings and assets in alphabetical order, with the number of findings and assets that have each. */

  listTags: {
    query?: {
      /** How the tags begin, ignoring case. Default: any */
      prefix?: string;
      /** Number of tags. Default: 100 */
      limit?: number;
    };
    response: Tags;
  };
  /** List the tickets of a work item. Returns one ticket per connection that the work item was pushed to, with its state and problems. */

  listTickets: {
    path: {
      /** Id of the work item (UUIDv7) */
      id: string;
    };
    query?: {
      /** Maximum number of items per page */
      limit?: number;
      /** `next_cursor` or `prev_cursor` of another page of the same list. Default: the first page */
      cursor?: string;
      /** Sort key. A leading `-` sorts in descending order. Ties are sorted by ID */
      sort?: 'created_at' | '-created_at';
      /** How to count the items on all pages. `none`: not at all. `bounded`: counting stops at 10,000. `exact`: all items are counted, which can be slow */
      total?: 'none' | 'bounded' | 'exact';
    };
    response: TicketList;
  };
  /** List saved views. Returns your own saved views of lists and those of the organization, by their position. */

  listViews: {
    query?: {
      /** Maximum number of items per page */
      limit?: number;
      /** `next_cursor` or `prev_cursor` of another page of the same list. Default: the first page */
      cursor?: string;
      /** Sort key. A leading `-` sorts in descending order. Ties are sorted by ID */
      sort?: 'position' | '-position' | 'created_at' | '-created_at';
      /** How to count the items on all pages. `none`: not at all. `bounded`: counting stops at 10,000. `exact`: all items are counted, which can be slow */
      total?: 'none' | 'bounded' | 'exact';
      /** Only views of this list */
      list?: 'findings' | 'work_items' | 'assets';
      /** Only your own views, or only those of the organization. Default: both */
      scope?: 'mine' | 'organization';
    };
    response: ViewList;
  };
  /** List aliases of vulnerabilities. Returns which ids stand for one vulnerability, who says so, and whose records they count for. It includes claims that nobody has confirmed and revoked aliases. */

  listVulnerabilityAliases: {
    query?: {
      /** Maximum number of items per page */
      limit?: number;
      /** `next_cursor` or `prev_cursor` of another page of the same list. Default: the first page */
      cursor?: string;
      /** Sort key. A leading `-` sorts in descending order. Ties are sorted by ID */
      sort?: 'created_at' | '-created_at' | 'alias' | '-alias';
      /** How to count the items on all pages. `none`: not at all. `bounded`: counting stops at 10,000. `exact`: all items are counted, which can be slow */
      total?: 'none' | 'bounded' | 'exact';
      /** Only this alias */
      alias?: string;
      /** Only aliases of this vulnerability */
      vulnerability?: string;
      /** Only aliases that count for these */
      counts_for?: ('all' | 'claimants' | 'none')[];
    };
    response: VulnerabilityAliasList;
  };
  /** List the deliveries of a webhook. Returns a webhook's deliveries with their status, attempts and last response, newest first. Deliveries are kept for `policy.retention.delivery_days` days. */

  listWebhookDeliveries: {
    path: {
      /** ID (UUIDv7) */
      id: string;
    };
    query?: {
      /** Maximum number of items per page */
      limit?: number;
      /** `next_cursor` or `prev_cursor` of another page of the same list. Default: the first page */
      cursor?: string;
      /** Sort key. A leading `-` sorts in descending order. Ties are sorted by ID */
      sort?: 'created_at' | '-created_at';
      /** How to count the items on all pages. `none`: not at all. `bounded`: counting stops at 10,000. `exact`: all items are counted, which can be slow */
      total?: 'none' | 'bounded' | 'exact';
      /** Statuses, separated by commas */
      status?: ('pending' | 'succeeded' | 'failed')[];
    };
    response: WebhookDeliveryList;
  };
  /** List webhooks. Returns the webhooks of your organization, without their signing secrets. */

  listWebhooks: {
    query?: {
      /** Maximum number of items per page */
      limit?: number;
      /** `next_cursor` or `prev_cursor` of another page of the same list. Default: the first page */
      cursor?: string;
      /** Sort key. A leading `-` sorts in descending order. Ties are sorted by ID */
      sort?: 'created_at' | '-created_at';
      /** How to count the items on all pages. `none`: not at all. `bounded`: counting stops at 10,000. `exact`: all items are counted, which can be slow */
      total?: 'none' | 'bounded' | 'exact';
    };
    response: WebhookList;
  };
  /** List the comments on a work item. Returns the comments on a work item, newest first. Withdrawn comments are listed without their text. */

  listWorkItemComments: {
    path: {
      /** Id of the finding or work item (UUIDv7) */
      id: string;
    };
    query?: {
      /** Maximum number of items per page */
      limit?: number;
      /** `next_cursor` or `prev_cursor` of another page of the same list. Default: the first page */
      cursor?: string;
      /** Sort key. A leading `-` sorts in descending order. Ties are sorted by ID */
      sort?: 'created_at' | '-created_at';
      /** How to count the items on all pages. `none`: not at all. `bounded`: counting stops at 10,000. `exact`: all items are counted, which can be slow */
      total?: 'none' | 'bounded' | 'exact';
    };
    response: CommentList;
  };
  /** List evidence packages of a work item. Returns the evidence packages of a work item, newest first, including superseded packages. */

  listWorkItemEvidencePackages: {
    path: {
      /** Id of the work item. */
      work_item_id: string;
    };
    query?: {
      /** Maximum number of items per page */
      limit?: number;
      /** `next_cursor` or `prev_cursor` of another page of the same list. Default: the first page */
      cursor?: string;
      /** Sort key. A leading `-` sorts in descending order. Ties are sorted by ID */
      sort?: 'generated_at' | '-generated_at';
      /** How to count the items on all pages. `none`: not at all. `bounded`: counting stops at 10,000. `exact`: all items are counted, which can be slow */
      total?: 'none' | 'bounded' | 'exact';
      /** Only packages with one of these statuses. */
      status?: PackageStatus[];
      /** Start of the range, inclusive: a date (00:00 UTC) or a date-time */
      generated_from?: string;
      /** End of the range, exclusive: a date (00:00 UTC) or a date-time */
      generated_to?: string;
    };
    response: EvidencePackageList;
  };
  /** List the findings of a work item. Returns the current and former findings of a work item and who added them. For more filters and sort orders use `GET /findings?work_item_id=`. */

  listWorkItemFindings: {
    path: {
      /** Id of the work item (UUIDv7) */
      id: string;
    };
    query?: {
      /** Maximum number of items per page */
      limit?: number;
      /** `next_cursor` or `prev_cursor` of another page of the same list. Default: the first page */
      cursor?: string;
      /** Sort key. A leading `-` sorts in descending order. Ties are sorted by ID */
      sort?: 'linked_at' | '-linked_at';
      /** How to count the items on all pages. `none`: not at all. `bounded`: counting stops at 10,000. `exact`: all items are counted, which can be slow */
      total?: 'none' | 'bounded' | 'exact';
      /** Findings on the work item now (`linked`), removed from it (`unlinked`), or both (`all`). Default: linked */
      state?: 'linked' | 'unlinked' | 'all';
    };
    response: LinkedFindingList;
  };
  /** List the timeline of a work item. Returns the changes, links, approvals and scans of a work item and its findings, newest first. */

  listWorkItemTimeline: {
    path: {
      /** Id of the work item (UUIDv7) */
      id: string;
    };
    query?: {
      /** Maximum number of items per page */
      limit?: number;
      /** `next_cursor` or `prev_cursor` of another page of the same list. Default: the first page */
      cursor?: string;
      /** Sort key. A leading `-` sorts in descending order. Ties are sorted by ID */
      sort?: 'occurred_at' | '-occurred_at';
      /** How to count the items on all pages. `none`: not at all. `bounded`: counting stops at 10,000. `exact`: all items are counted, which can be slow */
      total?: 'none' | 'bounded' | 'exact';
      /** Only entries of the work item or of its findings. Default: both */
      object_type?: 'work_item' | 'finding';
    };
    response: TimelineList;
  };
  /** List work items. Returns the work items of your organization, newest first. A work item must match all filters. Several values of one filter are alternatives. */

  listWorkItems: {
    query?: {
      /** Maximum number of items per page */
      limit?: number;
      /** `next_cursor` or `prev_cursor` of another page of the same list. Default: the first page */
      cursor?: string;
      /** Sort key. A leading `-` sorts in descending order. Ties are sorted by ID */
      sort?: 'created_at' | '-created_at' | 'updated_at' | '-updated_at' | 'due_at' | '-due_at' | 'priority' | '-priority';
      /** How to count the items on all pages. `none`: not at all. `bounded`: counting stops at 10,000. `exact`: all items are counted, which can be slow */
      total?: 'none' | 'bounded' | 'exact';
      /** Work items with any of these statuses */
      status?: WorkItemStatus[];
      /** Id or e-mail address of a member, or another assignee name */
      assignee?: string;
      /** Work items with any of these priorities */
      priority?: Level[];
      /** true: only overdue work items. false: only others */
      overdue?: boolean;
      /** Work items that this finding is linked to */
      finding_id?: string;
      /** Work items that follow this closed work item */
      follows?: string;
      /** Words in title, description or external reference. All must occur */
      q?: string;
      /** Start of the range, inclusive: a date (00:00 UTC) or a date-time */
      created_from?: string;
      /** End of the range, exclusive: a date (00:00 UTC) or a date-time */
      created_to?: string;
      /** Start of the range, inclusive: a date (00:00 UTC) or a date-time */
      updated_from?: string;
      /** End of the range, exclusive: a date (00:00 UTC) or a date-time */
      updated_to?: string;
      /** Start of the range, inclusive: a date (00:00 UTC) or a date-time */
      due_from?: string;
      /** End of the range, exclusive: a date (00:00 UTC) or a date-time */
      due_to?: string;
    };
    response: WorkItemList;
  };
  /** Merge two assets. Merges two assets of one type that are the same. The older one stays and is returned. It gets the identifiers, tracks, builds and findings of the other one. Findings that both have become one, with the least closed status. Returns 409 if one of the assets is already merged, or if only one of them has merged a track that both have. */

  mergeAsset: {
    path: {
      /** ID (UUIDv7) */
      id: string;
    };
    body: AssetMerge;
    response: AssetDetails;
  };
  /** Merge two tracks of an asset. Merges two names of one branch or environment. The track `into` stays and is returned. It gets the builds and findings of the other one, and later scans that name the other one belong to it. Nothing is closed before its next complete scan. Returns 422 if the findings of only one of them count. */

  mergeAssetTrack: {
    path: {
      /** ID (UUIDv7) */
      id: string;
      /** Name of the track: a branch, environment or release line. `default` until a scan or a person names it */
      name: string;
    };
    body: TrackMerge;
    response: Track;
  };
  /** Merge two findings. Merges two findings of one asset that are the same. The older one stays and is returned. It gets all sightings and the least closed status of both. The other one is no longer listed, and its `merged_into` names the one that stays. Returns 409 if one of them is already merged. */

  mergeFinding: {
    path: {
      /** ID (UUIDv7) */
      id: string;
    };
    body: FindingMerge;
    response: Finding;
  };
  /** Prove that the log only grew. Returns the consistency proof (RFC 9162, section 2.1.4) between two sizes of the log. */

  proveLogConsistency: {
    query: {
      /** Epoch of the log. Default: the current epoch. */
      epoch?: number;
      /** Size of the older tree. */
      from: number;
      /** Size of the newer tree. Default: the size of the latest checkpoint. */
      to?: number;
    };
    response: ConsistencyProof;
  };
  /** Prove that an entry is in the log. Returns the inclusion proof (RFC 9162, section 2.1.3) of an entry in the tree of a given size. */

  proveLogInclusion: {
    query: {
      /** Epoch of the log. Default: the current epoch. */
      epoch?: number;
      /** Index of the entry, from 0. */
      index: number;
      /** Size of the tree to prove inclusion in. Default: the size of the latest checkpoint. */
      tree_size?: number;
    };
    response: InclusionProof;
  };
  /** Push a work item to a ticketing system. Creates a ticket for the work item and keeps both in sync. The work item owns title, text, priority and due date. The ticket owns state and assignee. Returns immediately with status `pushing`, and a job creates the ticket. There is one ticket per work item and connection: a repeated request returns the same ticket and retries a failed one immediately. */

  pushTicket: {
    path: {
      /** Id of the work item (UUIDv7) */
      id: string;
    };
    body: TicketCreate;
    response: Ticket;
  };
  /** Put a source back in use. Puts a retired source back in use. Its findings come back with its next scan. Returns 409 if the source is not retired. */

  reactivateSource: {
    path: {
      /** ID (UUIDv7) */
      id: string;
    };
    response: SourceDetails;
  };
  /** Receive a ticketing webhook. Receives a webhook of the vendor. Use this URL when you configure the webhook there. The request must carry the vendor's signature, made with the webhook secret of the connection. The payload is only a hint: the service reads the ticket from the vendor again. */

  receiveTicketMessage: {
    path: {
      /** Id of the connection (UUIDv7) */
      id: string;
    };
    body: Blob;
    response: InboundAccepted;
  };
  /** Reject the acceptance of a risk. Rejects the pending request to accept the risk of the finding, whose status stays. If you made the request, this withdraws it. Returns 409 if there is no request. */

  rejectAcceptance: {
    path: {
      /** ID (UUIDv7) */
      id: string;
    };
    header?: {
      /** `ETag` that the change is based on. If it is not current, the response is 412. Default: no check */
      'If-Match'?: string;
    };
    body: AcceptanceRejection;
    response: Finding;
  };
  /** Remove an artifact. Removes an artifact. Its metadata and the reason are kept and shown in later packages. The content is erased, unless a package was sealed with it or the same content is used elsewhere. Removing it again changes nothing. */

  removeArtifact: {
    path: {
      /** Id of the artifact. */
      id: string;
    };
    query: {
      /** Why the artifact is removed. Kept permanently and shown in later packages. */
      reason: string;
    };
    response: Artifact;
  };
  /** Remove a member. Removes a member. Ends the member's sessions and revokes the member's API keys immediately. */

  removeMember: {
    path: {
      /** ID (UUIDv7) */
      id: string;
    };
    response: undefined;
  };
  /** Remove a finding from a work item. Removes a finding from a work item. The finding itself does not change, and the former link stays visible in `GET /work-items/{id}/findings?state=unlinked`. Returns 409 if the work item is closed. */

  removeWorkItemFinding: {
    path: {
      /** Id of the work item (UUIDv7) */
      id: string;
      /** Id of the finding (UUIDv7) */
      finding_id: string;
    };
    query?: {
      /** Why the finding is removed */
      reason?: string;
    };
    response: undefined;
  };
  /** Rename a track of an asset. Changes the name of a track. Later scans must state the new name in `scan_scope.track`: a scan that names the old one begins a new track. Returns 409 if the asset has another track with the name, and 422 if the new name stands for something else: a pull request, a branch in development, or a branch, environment or release line whose findings count. */

  renameAssetTrack: {
    path: {
      /** ID (UUIDv7) */
      id: string;
      /** Name of the track: a branch, environment or release line. `default` until a scan or a person names it */
      name: string;
    };
    header?: {
      /** `ETag` that the change is based on. If it is not current, the response is 412. Default: no check */
      'If-Match'?: string;
    };
    body: TrackPatch;
    response: Track;
  };
  /** Resolve ticket drift. Queues a repair in one direction. `push` writes title, text, priority, due date and the state that corresponds to the work item into the ticket. If the ticket is gone, it creates a new one. `pull` copies title, priority, due date and state of the ticket to the work item. Changes that the rules of work items do not allow, and the state of a rejected ticket, remain listed as drift. Both directions end a pause. */

  repairTicket: {
    path: {
      /** Id of the work item (UUIDv7) */
      id: string;
      /** Id of the ticket link (UUIDv7) */
      ticket_id: string;
    };
    body: TicketRepair;
    response: Ticket;
  };
  /** Replace your preferences. Stores any JSON object, such as the settings of a user interface, and replaces what you stored before. */

  replacePreferences: {
    body: Preferences;
    response: Preferences;
  };
  /** Replay a delivery. Queues the same event as a new delivery with the same `webhook-id`. It is sent shortly after the response. Returns 409 if the webhook is disabled. */

  replayWebhookDelivery: {
    path: {
      /** ID (UUIDv7) */
      id: string;
      /** ID (UUIDv7) */
      delivery_id: string;
    };
    response: WebhookDelivery;
  };
  /** Restore an alias of a vulnerability. Lets a revoked alias count again, for all sources or for the tools that claim it, as before. Returns 409 if it is not revoked, and 422 if the two ids would be aliases of each other. */

  restoreVulnerabilityAlias: {
    path: {
      /** Another id of a vulnerability */
      alias: string;
    };
    body: AliasRestoration;
    response: VulnerabilityAlias;
  };
  /** Retire a source. Retires a source that will not scan again. Findings that no other source still sees are verified if another source has proven that they are gone, and withdrawn otherwise: the end of a source proves nothing. Returns 409 if the source is already retired. */

  retireSource: {
    path: {
      /** ID (UUIDv7) */
      id: string;
    };
    body: SourceRetirement;
    response: SourceDetails;
  };
  /** Revoke an API key. Revokes an API key. Takes effect on the next request, on every replica. The key stays in the list with the status `revoked`. Revoking it again has no effect. */

  revokeApiKey: {
    path: {
      /** ID (UUIDv7) */
      id: string;
    };
    response: undefined;
  };
  /** Revoke a share link. Revokes a share link. Takes effect on the next request, on every replica. The link stays in the list as revoked. Revoking it again changes nothing. */

  revokeShareLink: {
    path: {
      /** Id of the evidence package. */
      package_id: string;
      /** Id of the share link. */
      id: string;
    };
    response: undefined;
  };
  /** Revoke an alias of a vulnerability. Lets an alias no longer count, for any source. Findings that it made one come apart: each gets the reports that name its own id. Later reports do not bring the alias back. Returns 409 if it is already revoked. */

  revokeVulnerabilityAlias: {
    path: {
      /** Another id of a vulnerability */
      alias: string;
    };
    body: AliasRevocation;
    response: VulnerabilityAlias;
  };
  /** Rotate the signing secret. Creates a new signing secret and returns it. It cannot be retrieved again. For 24 hours deliveries are signed with both secrets, so that the receiver can switch over. If a secret has leaked, rotate twice. The leaked secret is then no longer used. */

  rotateWebhookSecret: {
    path: {
      /** ID (UUIDv7) */
      id: string;
    };
    response: WebhookWithSecret;
  };
  /** Search everything. Returns the findings, assets, work items, evidence packages and connections that match a text, a few of each. For all of one kind, use its list. */

  search: {
    query: {
      /** Text to search for, ignoring case. Findings are searched as with `q` of `GET /findings` */
      q: string;
      /** Number of results of each kind. Default: 5 */
      limit?: number;
    };
    response: SearchResult;
  };
  /** Set up the service. Creates the first member of the organization, with the role owner, and signs in with a session cookie. Needs the setup key that the first start printed. It works once, and only while the organization has no members. */

  setUp: {
    body: Setup;
    response: Me;
  };
  /** Undo the merge of a finding. Separates a finding from the one that it was merged into, and returns it. Both get back their sightings and status. What scans and people changed since then is kept. Returns 409 if the finding is not merged, or was merged because its asset was. */

  splitFinding: {
    path: {
      /** ID (UUIDv7) */
      id: string;
    };
    body: FindingSplit;
    response: Finding;
  };
  /** Start to sign in at the identity provider. Redirects the browser to the identity provider (OpenID Connect authorization code flow with PKCE). Open it as a page, not from a script. Returns 404 if no identity provider is configured. */

  startOidcSignIn: {
    query?: {
      /** Path of this service to go to after signing in, such as `/findings?severity=high`. Default: `/` */
      next?: string;
      /** Slug of the organization. Required only if you are a member of several */
      organization?: string;
    };
    response: undefined;
  };
  /** Stream events. Streams the events of your organization as server-sent events. Each event is a CloudEvents 1.0 document in JSON. You receive the events whose subject your role may read. With `Last-Event-ID` the stream starts with the first event after it, so that none is missed. A comment every 15 seconds keeps the connection alive. The stream ends when the service stops or the credential becomes invalid. Reconnect then, as browsers do automatically. With `Prefer: wait=N` the stream ends after N seconds (at most 60). `wait=0` returns the missed events and ends. Each process serves at most 5 streams for a credential, 20 for an organization and 100 in all. */

  streamEvents: {
    query?: {
      /** Events to stream: types (`finding.created`) or prefixes (`finding.*`), separated by commas. Default: all events */
      types?: EventPattern[];
    };
    response: Response;
  };
  /** Suggest values of a filter. Returns values of a filter of `GET /findings` that begin with a text, to complete what somebody types. Components are completed by their name without the group. */

  suggestFilterValues: {
    query: {
      /** The filter whose values are suggested */
      field: 'component' | 'tag' | 'cve' | 'asset' | 'owner' | 'asset_tag' | 'source';
      /** How the values begin, ignoring case. Default: any */
      prefix?: string;
      /** Number of values. Default: 20 */
      limit?: number;
    };
    response: Suggestions;
  };
  /** Sync all scanners. Queues a run of every scanner connection. Returns the run of each connection, or why none was queued. Skips enrichment and ticketing. */

  syncAllConnections: {
    response: SyncAllResult;
  };
  /** Sync a connection. Queues a run. Returns 409 if the connection is paused, already has an active run, or is a ticketing connection. `Location` is then the active run, if there is one. */

  syncConnection: {
    path: {
      /** Id of the connection (UUIDv7) */
      id: string;
    };
    query?: {
      /** Fetch everything instead of changes since the previous run. Default: false */
      full?: boolean;
    };
    response: SyncRun;
  };
  /** Test a connection. Sends a small request to the vendor with the stored settings and returns the result. Takes at most 20 seconds. */

  testConnection: {
    path: {
      /** Id of the connection (UUIDv7) */
      id: string;
    };
    response: ConnectionTest;
  };
  /** Test settings before saving them. Sends a small request to the vendor with the given settings and returns the result. Nothing is stored. Takes at most 20 seconds. Settings that `POST /integrations` or `PATCH /integrations/{id}` would refuse are refused. */

  testNewConnection: {
    body: ConnectionTestRequest;
    response: ConnectionTest;
  };
  /** Test a webhook. Sends an event of the type `webhook.test` to the receiver and returns its response. The event is sent once, even if the webhook is disabled or does not select the type. Other webhooks do not receive it. */

  testWebhook: {
    path: {
      /** ID (UUIDv7) */
      id: string;
    };
    response: WebhookDelivery;
  };
  /** Unlink a member from the identity provider. Removes the link between a member and an account at the identity provider. Until then no other account can become the member, even with the same e-mail address. Ends the sessions that were opened through the identity provider. The next account that signs in with the member's verified e-mail address is linked. */

  unlinkMember: {
    path: {
      /** ID (UUIDv7) */
      id: string;
    };
    response: undefined;
  };
  /** Unlink a ticket. Stops the sync between work item and ticket. The vendor's ticket does not change. If you push the work item again, it is linked to the same ticket. */

  unlinkTicket: {
    path: {
      /** Id of the work item (UUIDv7) */
      id: string;
      /** Id of the ticket link (UUIDv7) */
      ticket_id: string;
    };
    response: undefined;
  };
  /** Undo the merge of two assets. Undoes the latest merge that the asset took part in, and returns the asset that is separate again. Both get back their identifiers, tracks, builds and findings. What scans have reported since the merge belongs to the asset that they named. A finding that was closed because a scan of the other asset did not show it gets back the status it had. What a report named for both stays with the asset that stayed. Returns 409 if the asset is not merged, or if a later merge of the same assets or of their tracks has to be undone first. */

  unmergeAsset: {
    path: {
      /** ID (UUIDv7) */
      id: string;
    };
    body: AssetUnmerge;
    response: AssetDetails;
  };
  /** Undo the merge of two tracks. Undoes the latest merge that the track took part in, and returns the track that is separate again. `name` is the name of either track. Both get back their builds and findings. What scans have reported since the merge belongs to the track that they named. A finding that was closed because a scan of the other track did not show it gets back the status it had. Returns 409 if the track is not merged, if a later merge of the same tracks or of the asset has to be undone first, or if another track has the name by now. */

  unmergeAssetTrack: {
    path: {
      /** ID (UUIDv7) */
      id: string;
      /** Name of the track: a branch, environment or release line. `default` until a scan or a person names it */
      name: string;
    };
    body: TrackUnmerge;
    response: Track;
  };
  /** Change an API key. Changes the name or the expiry of an API key with a JSON merge patch. The role cannot be changed. To get another role, create a new key. Returns 409 if the key is revoked. */

  updateApiKey: {
    path: {
      /** ID (UUIDv7) */
      id: string;
    };
    header?: {
      /** `ETag` that the change is based on. If it is not current, the response is 412. Default: no check */
      'If-Match'?: string;
    };
    body: ApiKeyPatch;
    response: ApiKey;
  };
  /** Change an asset. Applies a JSON merge patch. Absent fields stay unchanged. Changing criticality or exposure rescores the asset's findings immediately. A new name must not belong to another asset. Retiring the asset withdraws its active findings. */

  updateAsset: {
    path: {
      /** ID (UUIDv7) */
      id: string;
    };
    header?: {
      /** `ETag` that the change is based on. If it is not current, the response is 412. Default: no check */
      'If-Match'?: string;
    };
    body: AssetPatch;
    response: AssetDetails;
  };
  /** Update a connection. Applies a JSON merge patch. Absent fields keep their values, including single fields of `config` and `credentials`. After a change of `config` the next run is a full run. If you change the URL, supply the credentials again. */

  updateConnection: {
    path: {
      /** Id of the connection (UUIDv7) */
      id: string;
    };
    header?: {
      /** `ETag` that the change is based on. If it is not current, the response is 412. Default: no check */
      'If-Match'?: string;
    };
    body: {
      /** Display name, unique in your organization */
      name?: string;
      /** Fields to change. null clears a field */
      config?: Record<string, unknown>;
      /** Secrets to change. null clears a secret. If you change the URL, supply all secrets again */
      credentials?: Record<string, unknown>;
      /** null: only on request */
      schedule?: {
        /** Minutes between two runs, plus or minus 5 percent */
        every_minutes: number;
      } | null;
      /** Whether the connection runs */
      enabled?: boolean;
    };
    response: Connection;
  };
  /** Change a finding. Changes status, severity or tags of a finding. Returns 409 with the allowed statuses if the change of status is not allowed. A severity that you set survives later scans. `null` restores the severity of the sources. Under the four-eyes policy, `risk_accepted` does not change the status: it requests an acceptance, which `acceptance` shows and another person must approve. */

  updateFinding: {
    path: {
      /** ID (UUIDv7) */
      id: string;
    };
    header?: {
      /** `ETag` that the change is based on. If it is not current, the response is 412. Default: no check */
      'If-Match'?: string;
    };
    body: FindingPatch;
    response: Finding;
  };
  /** Change a member. Applies a JSON merge patch. A lower role also applies to the member's API keys. A new password ends the member's sessions. The member must change a password that you chose before changing anything else. */

  updateMember: {
    path: {
      /** ID (UUIDv7) */
      id: string;
    };
    header?: {
      /** `ETag` that the change is based on. If it is not current, the response is 412. Default: no check */
      'If-Match'?: string;
    };
    body: MemberPatch;
    response: Member;
  };
  /** Change your organization. Applies a JSON merge patch. Absent fields stay unchanged. Changes of the SLA update the deadlines of active findings in the background, and changes of `source_ranking` update severities and deadlines. */

  updateOrganization: {
    header?: {
      /** `ETag` that the change is based on. If it is not current, the response is 412. Default: no check */
      'If-Match'?: string;
    };
    body: OrganizationPatch;
    response: Organization;
  };
  /** Change a trusted pipeline. Changes a trusted pipeline with a JSON merge patch. `conditions` are replaced as a whole. Takes effect on the next request, on every replica. Scans that the pipeline delivers after a change are compared with those before it in evidence packages. */

  updatePipelineTrust: {
    path: {
      /** ID (UUIDv7) */
      id: string;
    };
    header?: {
      /** `ETag` that the change is based on. If it is not current, the response is 412. Default: no check */
      'If-Match'?: string;
    };
    body: PipelineTrustPatch;
    response: PipelineTrust;
  };
  /** Change a saved view. Changes a view with a JSON merge patch. Views of the organization require the permission `views:share`. Returns 409 if the new name is taken. */

  updateView: {
    path: {
      /** Id of the view (UUIDv7) */
      id: string;
    };
    header?: {
      /** `ETag` that the change is based on. If it is not current, the response is 412. Default: no check */
      'If-Match'?: string;
    };
    body: ViewPatch;
    response: View;
  };
  /** Change a webhook. Applies a JSON merge patch. Disabling a webhook cancels its pending deliveries. After it is enabled again, it receives only new events. Cancelled deliveries can be replayed one by one. */

  updateWebhook: {
    path: {
      /** ID (UUIDv7) */
      id: string;
    };
    header?: {
      /** `ETag` that the change is based on. If it is not current, the response is 412. Default: no check */
      'If-Match'?: string;
    };
    body: WebhookPatch;
    response: Webhook;
  };
  /** Update a work item. Applies a JSON merge patch. Absent fields keep their values, null clears a field. A new status also changes findings: `in_progress` starts the open ones, `awaiting_verification` claims those that are open or in progress as remediated, `open` reopens those in progress. Returns 409 if the new status contradicts the findings. Closed work items cannot be reopened. */

  updateWorkItem: {
    path: {
      /** Id of the work item (UUIDv7) */
      id: string;
    };
    header?: {
      /** `ETag` that the change is based on. If it is not current, the response is 412. Default: no check */
      'If-Match'?: string;
    };
    body: WorkItemPatch;
    response: WorkItem;
  };
  /** Verify an evidence package. Verifies the stored package with the same program that auditors use offline, against every key that this service ever published. A superseded package still verifies for its date. Every verification is recorded with a receipt. */

  verifyEvidencePackage: {
    path: {
      /** Id of the evidence package. */
      package_id: string;
    };
    response: EvidenceVerification;
  };
  /** Verify an uploaded package. Verifies a package that you send as the raw body or as the part `file` of a multipart form. Uses the same program that auditors use offline, and every key that this service ever published. Returns 200 with a verdict, even if the file is not a package. Returns 422 if the verification needs more memory or time than the service allows. A package that another installation signed is never `verified`. The file is not stored. `superseded` is set only for packages of your organization. */

  verifyUploadedPackage: {
    body: Bytes | FormData;
    response: EvidenceVerification;
  };
  /** Withdraw a comment on a finding. Withdraws a comment. Its text is no longer shown. Only the author, or an owner or admin, can do so. Withdrawing it again has no effect. */

  withdrawFindingComment: {
    path: {
      /** Id of the finding or work item (UUIDv7) */
      id: string;
      /** Id of the comment (UUIDv7) */
      comment_id: string;
    };
    response: Comment;
  };
  /** Withdraw a comment on a work item. Withdraws a comment. Its text is no longer shown. Only the author, or an owner or admin, can do so. Withdrawing it again has no effect. */

  withdrawWorkItemComment: {
    path: {
      /** Id of the finding or work item (UUIDv7) */
      id: string;
      /** Id of the comment (UUIDv7) */
      comment_id: string;
    };
    response: Comment;
  };
}
