/** Words of tools for package types, by the type of a package URL. */
const WORDS: Readonly<Record<string, readonly string[]>> = {
  alpm: ['alpm', 'arch', 'archlinux'],
  apk: ['apk', 'alpine', 'chainguard', 'wolfi', 'alpaquita', 'bellsoft hardened containers', 'minimos'],
  bitnami: ['bitnami'],
  cargo: ['cargo', 'crates.io', 'rust', 'rust-crate', 'rustbinary', 'rust-binary'],
  cocoapods: ['cocoapods', 'pod'],
  composer: ['composer', 'composer-vendor', 'packagist', 'php-composer', 'php-composer-installed', 'php-composer-lock'],
  conan: ['conan', 'conancenter'],
  conda: ['conda', 'conda-pkg', 'conda-environment'],
  cran: ['cran', 'r-package'],
  deb: ['deb', 'debian', 'ubuntu', 'dpkg', 'apt'],
  gem: ['gem', 'gemspec', 'bundler', 'rubygems', 'ruby'],
  githubactions: ['githubactions', 'github actions', 'github-action', 'github-action-workflow', 'actions'],
  golang: ['golang', 'go', 'gomod', 'gobinary', 'go-module', 'gomodules', 'golangdep', 'govendor'],
  hackage: ['hackage', 'haskell'],
  hex: ['hex', 'mix-lock', 'erlang'],
  maven: ['maven', 'gradle', 'gradle-lockfile', 'sbt', 'sbt-lockfile', 'jar', 'pom', 'java-archive', 'jenkins-plugin'],
  npm: ['npm', 'yarn', 'pnpm', 'bun', 'node-pkg', 'nodepkg', 'nodejs'],
  nuget: ['nuget', 'dotnet', 'dotnet-core', 'dotnet_core', 'dotnet-deps', 'packages-props', 'paket'],
  pub: ['pub', 'dart', 'dart-pub'],
  pypi: ['pypi', 'pip', 'pipenv', 'poetry', 'setuptools', 'uv', 'python', 'python-pkg', 'pythonpkg'],
  rpm: [
    ...['rpm', 'rhel', 'redhat', 'red hat', 'centos', 'fedora', 'rocky', 'rocky linux', 'alma', 'almalinux', 'amazon', 'oracle', 'suse', 'opensuse'],
    ...['opensuse.leap', 'opensuse.tumbleweed', 'opensuse-leap', 'sles', 'suse linux enterprise server', 'photon', 'cbl-mariner', 'azurelinux', 'openeuler'],
  ],
  swift: ['swift', 'swifturl'],
};

const TYPES: ReadonlyMap<string, string> = new Map(Object.entries(WORDS).flatMap(([type, words]) => words.map((word) => [word, type] as const)));

/**
 * Returns the type of a package URL for the word that a tool uses: "pip" is `pypi`, "Debian:12" and "debian 12.1" are `deb`. Undefined for
 * words that do not name a package type, such as "OS".
 */
export function ecosystemOf(word: string | undefined): string | undefined {
  const [name = ''] = word?.trim().toLowerCase().split(':') ?? [];
  return TYPES.get(name) ?? TYPES.get(name.split(' ')[0] ?? '');
}

/** Lock files and manifests by the type of a package URL. */
const FILES: Readonly<Record<string, RegExp>> = {
  cargo: /^Cargo\.(?:lock|toml)$/,
  composer: /^composer\.(?:lock|json)$/,
  conan: /^conan(?:\.lock|file\.(?:txt|py))$/,
  gem: /^(?:Gemfile(?:\.lock)?|gems\.locked|.+\.gemspec)$/,
  golang: /^go\.(?:mod|sum)$/,
  hex: /^mix\.(?:lock|exs)$/,
  maven: /^(?:pom\.xml|build\.gradle(?:\.kts)?|gradle\.lockfile|build\.sbt)$/,
  npm: /^(?:package(?:-lock)?\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-lock\.yaml|bun\.lockb?)$/,
  nuget: /^(?:packages\.(?:lock\.json|config)|.+\.(?:cs|fs|vb)proj)$/,
  pub: /^pubspec\.(?:lock|yaml)$/,
  pypi: /^(?:requirements.*\.txt|Pipfile(?:\.lock)?|poetry\.lock|uv\.lock|pyproject\.toml|setup\.py)$/,
  swift: /^Package\.(?:resolved|swift)$/,
};

/** Returns the package type of a lock file or manifest, for reports that name only the file. */
export function ecosystemOfFile(path: string | undefined): string | undefined {
  const file = path?.split('/').at(-1) ?? '';
  return Object.keys(FILES).find((type) => FILES[type]?.test(file));
}
