import { type TSchema, Type } from 'typebox';

const Nullable = <T extends TSchema>(schema: T) => Type.Optional(Type.Union([schema, Type.Null()]));
const Page = Type.Object({
  nodes: Type.Array(Type.Unknown()),
  pageInfo: Type.Object({ hasNextPage: Type.Boolean(), endCursor: Nullable(Type.String()) }),
});
/** A group or a project with the requested fields. */
const Holder = Type.Object({
  webUrl: Type.String(),
  vulnerabilities: Nullable(Page),
  projects: Nullable(Page),
});
const Data = Type.Object({ group: Nullable(Holder), project: Nullable(Holder) });

export const ResponseBody = Type.Object({
  data: Nullable(Data),
  errors: Type.Optional(Type.Array(Type.Object({ message: Type.String() }))),
});

export type Scope = 'group' | 'project';

export const scopeQuery = 'query ($path: ID!) { group(fullPath: $path) { webUrl } project(fullPath: $path) { webUrl } }';

export const projectsQuery = `query ($path: ID!, $after: String, $first: Int) {
  group(fullPath: $path) {
    webUrl
    projects(includeSubgroups: true, first: $first, after: $after) { pageInfo { hasNextPage endCursor } nodes { webUrl archived } }
  }
}`;

/** Oldest first, so that new vulnerabilities come last. Contains only fields that all supported versions have, because GitLab refuses a query with an unknown field. */
export const vulnerabilitiesQuery = (scope: Scope): string => `query ($path: ID!, $after: String, $first: Int) {
  ${scope}(fullPath: $path) {
    webUrl
    vulnerabilities(first: $first, after: $after, sort: detected_asc) {
      pageInfo { hasNextPage endCursor }
      nodes {
        id uuid title description solution severity state reportType detectedAt resolvedOnDefaultBranch dismissalReason webUrl
        project { webUrl }
        identifiers { externalType externalId name url }
        links { url }
        scanner { externalId name }
        location {
          ... on VulnerabilityLocationSast { file startLine endLine vulnerableClass vulnerableMethod }
          ... on VulnerabilityLocationSecretDetection { file startLine endLine }
          ... on VulnerabilityLocationCoverageFuzzing { file startLine endLine crashType vulnerableClass vulnerableMethod }
          ... on VulnerabilityLocationDependencyScanning { file dependency { version package { name } } }
          ... on VulnerabilityLocationContainerScanning { image dependency { version package { name } } }
          ... on VulnerabilityLocationClusterImageScanning {
            image dependency { version package { name } } kubernetesResource { namespace kind name containerName }
          }
          ... on VulnerabilityLocationDast { hostname path param requestMethod }
        }
      }
    }
  }
}`;
