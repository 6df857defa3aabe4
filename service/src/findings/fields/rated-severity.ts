/** Raters that know how a vulnerability affects their own packages. Databases such as the NVD rate it in general. */
const DISTRIBUTIONS =
  '^(alma|alpine|amazon|arch|azure|bottlerocket|cbl-mariner|chainguard|debian|fedora|mariner|minimos|opensuse|oracle|photon|red ?hat|rhel|rocky|sles|suse|ubuntu|wolfi)';

/**
 * The severity of the first source in the organization's ranking that knows one. Otherwise the highest, but what a source only copied from the NVD does
 * not count if a distribution has rated its package itself.
 */
export const ratedSeverity = `coalesce(
  (array_agg(x.severity order by x.ranked, x.severity desc) filter (where x.ranked is not null and x.severity > 0))[1],
  case when bool_or(x.severity > 0 and x.severity_source ~ '${DISTRIBUTIONS}') then max(x.severity) filter (where x.severity_source is distinct from 'nvd') end,
  max(x.severity))`;
