import type { Distribution, Ecosystem, Library, SystemPackage } from './world.ts';

/** How registries, package URLs and tools write one and the same package. */

const encode = (name: string): string => name.split('/').map(encodeURIComponent).join('/');

export function purlOf({ ecosystem, name, version }: Library): string {
  if (ecosystem === 'maven') return `pkg:maven/${name.replace(':', '/')}@${version}`;
  if (ecosystem === 'pypi') return `pkg:pypi/${pythonName(name)}@${version}`;
  if (ecosystem === 'golang') return `pkg:golang/${name}@v${version}`;
  return `pkg:${ecosystem}/${encode(name)}@${version}`;
}

/** PEP 503. */
export function pythonName(name: string): string {
  return name.toLowerCase().replace(/[-_.]+/g, '-');
}

export const lockFiles: Readonly<Record<Ecosystem, string>> = {
  npm: 'package-lock.json',
  pypi: 'requirements.txt',
  maven: 'pom.xml',
  golang: 'go.sum',
  gem: 'Gemfile.lock',
  nuget: 'packages.lock.json',
  composer: 'composer.lock',
  cargo: 'Cargo.lock',
};

export function withEpoch({ epoch, version }: SystemPackage): string {
  return epoch === 0 ? version : `${epoch}:${version}`;
}

/** As Syft writes it. */
export function syftPurl(binary: string, system: SystemPackage, { type, name, release }: Distribution): string {
  const { source, version, epoch } = system;
  const upstream = type === 'rpm' ? `&upstream=${encodeURIComponent(`${source}-${version}.src.rpm`)}` : source === binary ? '' : `&upstream=${source}`;
  const ofEpoch = epoch === 0 ? '' : `&epoch=${epoch}`;
  const arch = type === 'deb' ? 'amd64' : 'x86_64';
  return `pkg:${type}/${name}/${encodeURIComponent(binary)}@${encodeURIComponent(version)}?arch=${arch}${ofEpoch}${upstream}&distro=${name === 'redhat' ? 'rhel' : name}-${release}`;
}

/** As Trivy writes it. */
export function trivyPurl(binary: string, { version, epoch }: SystemPackage, { type, name, release }: Distribution): string {
  const ofEpoch = epoch === 0 ? '' : `&epoch=${epoch}`;
  const point = name === 'debian' ? `${release}.6` : release;
  return `pkg:${type}/${name}/${encodeURIComponent(binary)}@${encodeURIComponent(version)}?arch=${type === 'deb' ? 'amd64' : 'x86_64'}&distro=${name}-${point}${ofEpoch}`;
}

export function imageLabel(image: string, cve: string, source: string): string {
  return `image ${image}: ${cve} in system package ${source}`;
}

export function libraryLabel(asset: string, id: string, { ecosystem, name }: Library): string {
  const unified = ecosystem === 'pypi' ? pythonName(name) : name;
  return `${asset}: ${id} in ${ecosystem} ${unified}`;
}
