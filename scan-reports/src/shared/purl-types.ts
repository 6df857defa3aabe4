/** What the definition of a package URL type demands beyond the general syntax. Types without special rules are absent. */
interface PurlType {
  namespace?: 'required' | 'prohibited';
  /** Parts that ignore case and are written in lower case. */
  lowerCase?: readonly ('namespace' | 'name' | 'version' | 'subpath')[];
  /** Qualifiers without which the package is not identified. */
  qualifiers?: readonly string[];
  name?: RegExp;
  version?: RegExp;
}

const CASELESS = ['namespace', 'name'] as const;

const TYPES: Readonly<Record<string, PurlType>> = {
  alpm: { namespace: 'required', lowerCase: CASELESS },
  apk: { namespace: 'required', lowerCase: CASELESS },
  bazel: { namespace: 'prohibited' },
  bitbucket: { namespace: 'required', lowerCase: CASELESS },
  bitnami: { namespace: 'prohibited', lowerCase: ['name'] },
  brew: { lowerCase: CASELESS },
  cargo: { namespace: 'prohibited' },
  'chrome-extension': { namespace: 'prohibited', lowerCase: ['name'], name: /^[a-p]{32}$/, version: /^\d+(?:\.\d+){0,3}$/ },
  cocoapods: { namespace: 'prohibited' },
  composer: { namespace: 'required', lowerCase: CASELESS },
  conda: { namespace: 'prohibited' },
  // The name is that of a distribution, such as libwww-perl, and not that of a module.
  cpan: { name: /^(?!.*::)/ },
  cran: { namespace: 'prohibited' },
  deb: { namespace: 'required', lowerCase: CASELESS },
  gem: { namespace: 'prohibited' },
  git: { namespace: 'required' },
  github: { namespace: 'required', lowerCase: CASELESS },
  golang: { namespace: 'required' },
  hackage: { namespace: 'prohibited' },
  hex: { lowerCase: CASELESS },
  huggingface: { namespace: 'required', lowerCase: ['version'] },
  julia: { namespace: 'prohibited', qualifiers: ['uuid'] },
  luarocks: { lowerCase: CASELESS },
  maven: { namespace: 'required' },
  mlflow: { namespace: 'prohibited' },
  nuget: { namespace: 'prohibited' },
  oci: { namespace: 'prohibited', lowerCase: ['name', 'version'] },
  opam: { namespace: 'prohibited' },
  otp: { namespace: 'prohibited', lowerCase: ['name', 'subpath'] },
  pub: { namespace: 'prohibited', lowerCase: ['name'] },
  pypi: { namespace: 'prohibited', lowerCase: ['name', 'version'] },
  qpkg: { namespace: 'required', lowerCase: ['namespace'] },
  rpm: { namespace: 'required', lowerCase: ['namespace'] },
  swid: { qualifiers: ['tag_id'] },
  swift: { namespace: 'required' },
  vcpkg: { namespace: 'prohibited' },
  'vscode-extension': { namespace: 'required', lowerCase: ['namespace', 'name', 'version'] },
  yocto: { lowerCase: ['namespace'] },
};

const NO_RULES: PurlType = {};

/** The rules of a type, which comes from a report and can be any word, even `constructor`. */
export function purlType(type: string): PurlType {
  return (Object.hasOwn(TYPES, type) ? TYPES[type] : undefined) ?? NO_RULES;
}
