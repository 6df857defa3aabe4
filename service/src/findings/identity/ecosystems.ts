/** Names that tools and advisory databases use for an ecosystem, by package URL type. A package URL type also stands for itself. */
const NAMES: Readonly<Record<string, string>> = {
  alpm: 'arch archlinux',
  apk: 'alpine alpaquita chainguard minimos wolfi',
  cargo: 'crates crates.io rust rust-binary rustbinary',
  composer: 'composer-vendor packagist php',
  conan: 'conancenter',
  conda: 'conda-pkg',
  cran: 'r',
  deb: 'debian distroless dpkg echo ubuntu',
  gem: 'bundler gemspec ruby rubygems',
  github: 'github-action github-actions githubactions',
  golang: 'go go-module gobinary gomod gomodules govendor',
  hex: 'elixir erlang mix',
  maven: 'gradle jar java java-archive pom sbt',
  npm: 'javascript node node-pkg nodejs pnpm yarn',
  nuget: 'dotnet dotnet-core dotnet-deps packages-props paket',
  pub: 'dart',
  pypi: 'pip pipenv poetry pylock python python-pkg uv',
  rpm: 'alma almalinux amazon amazon-linux azure-linux azurelinux cbl-mariner centos fedora mageia mariner openeuler opensuse oracle oracle-linux photon photon-os red-hat redhat rhel rocky rocky-linux sles suse',
  swift: 'swifturl',
};

const TYPES = new Map(Object.entries(NAMES).flatMap(([type, names]) => names.split(' ').map((name) => [name, type] as const)));

/** Names that say that the ecosystem is not known. `generic` is the package URL type for software outside of ecosystems. */
const NONE = new Set(['', 'binary', 'generic', 'linux', 'none', 'other', 'unknown', 'unmanaged']);

/** The package URL type of an ecosystem: `pypi` for `PyPI` and `pip`, `deb` for `Debian:12`. Null if the name says nothing. */
export function ecosystemOf(name: string | undefined): string | null {
  if (name !== undefined && Object.hasOwn(NAMES, name)) return name;
  // A release follows after a colon: "Ubuntu:22.04:LTS".
  const [plain = ''] = (name ?? '').trim().toLowerCase().split(':');
  const folded = plain.replace(/[ _]+/g, '-');
  if (NONE.has(folded)) return null;
  return TYPES.get(folded) ?? (/^(?:open)?suse[-.]/.test(folded) ? 'rpm' : folded);
}
