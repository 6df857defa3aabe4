import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { parse, parseAllDocuments, stringify } from 'yaml';
import { renderer } from '../testing/deployment/go-template.ts';
import { readConfig } from './config.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const folder = mkdtempSync(join(tmpdir(), 'rrs-deployment-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Settings as the service gets them. Files of secrets are somewhere else here. */
function warningsOf(environment: Readonly<Record<string, string>>, secrets: Readonly<Record<string, string>>): string[] {
  const own = Object.entries(environment).filter(([name]) => name !== 'PATH');
  const files = own.map(([name, value], n) => {
    if (!name.endsWith('_FILE')) return [name, value];
    const content = secrets[value];
    if (content === undefined) throw new Error(`${name}: there is no secret ${value}`);
    writeFileSync(join(folder, `secret-${n}`), content);
    return [name, join(folder, `secret-${n}`)];
  });
  return readConfig(Object.fromEntries(files)).warnings;
}

/** The instructions of a Dockerfile, with the lines of each put together. */
const instructions = read('Dockerfile')
  .replaceAll(/\\\n/g, ' ')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'))
  .map((line) => /^(\w+) +(.*)$/.exec(line)?.slice(1) ?? [line, '']);
const final = instructions.slice(instructions.findLastIndex(([name]) => name === 'FROM'));
const imageSettings = Object.fromEntries(
  final.flatMap(([name, text = '']) => (name === 'ENV' ? [...text.matchAll(/(\w+)=(\S+)/g)].map(([, key = '', value = '']) => [key, value]) : [])),
);

describe('Dockerfile', () => {
  const values = (name: string): string[] => final.flatMap(([key, text = '']) => (key === name ? [text] : []));

  it('runs the service as a user without a name to guess, with a health check and without a shell', () => {
    expect(values('USER')).toEqual(['10001:10001']);
    expect(JSON.parse(values('ENTRYPOINT')[0] ?? '')).toEqual(['node', '--max-semi-space-size=8', '/opt/rrs/node_modules/@rrs/service/bin/rrs-server.mjs']);
    expect(JSON.parse(values('CMD')[0] ?? '')).toEqual(['start']);
    expect(values('HEALTHCHECK')[0]).toMatch(/CMD \["node", "\/opt\/rrs\/bin\/health\.mjs"\]$/);
    expect(values('STOPSIGNAL')).toEqual(['SIGTERM']);
  });

  it('takes nothing from the sources but the assembled files, and has no secrets and no moving tags', () => {
    expect(values('COPY')).toEqual(['--from=build /image/ /']);
    expect(values('RUN')).toEqual([]);
    for (const [name = '', text = ''] of instructions) {
      expect(['FROM', 'WORKDIR', 'COPY', 'RUN', 'LABEL', 'ENV', 'USER', 'VOLUME', 'EXPOSE', 'STOPSIGNAL', 'HEALTHCHECK', 'ENTRYPOINT', 'CMD']).toContain(name);
      if (name === 'FROM') expect(text).toMatch(/^[a-z]+:(?!latest)[\w.-]+(?: AS \w+)?$/);
    }
    expect(warningsOf(imageSettings, {})).toEqual([]);
  });

  it('does not send data, keys or built files to the builder', () => {
    const ignored = read('.dockerignore').split('\n');
    expect(ignored).toEqual(expect.arrayContaining(['.git', '**/node_modules', '**/dist', 'data', '.dev-data', '**/*.pem', 'deploy/compose/secrets']));
  });
});

interface Service {
  image: string;
  command?: string[];
  user?: string;
  read_only?: boolean;
  cap_drop?: string[];
  stop_grace_period?: string;
  ports?: string[];
  environment?: Record<string, string>;
  secrets?: string[];
  volumes?: string[];
  configs?: { source: string }[];
  depends_on?: string[] | Record<string, { condition: string }>;
  deploy?: { replicas: number };
}
interface Compose {
  services: Record<string, Service>;
  secrets: Record<string, { file: string }>;
  configs: object;
  volumes: object;
}

describe('compose.yaml', () => {
  const { services, secrets, configs, volumes } = parse(read('compose.yaml'), { merge: true }) as Compose;

  it('refers only to what it has', () => {
    for (const [name, service] of Object.entries(services)) {
      const waitsFor = Array.isArray(service.depends_on) ? service.depends_on : Object.keys(service.depends_on ?? {});
      expect(Object.keys(services), name).toEqual(expect.arrayContaining(waitsFor));
      expect(Object.keys(secrets), name).toEqual(expect.arrayContaining(service.secrets ?? []));
      expect(Object.keys(configs), name).toEqual(expect.arrayContaining((service.configs ?? []).map(({ source }) => source)));
      expect(Object.keys(volumes), name).toEqual(expect.arrayContaining((service.volumes ?? []).map((volume) => volume.split(':')[0])));
      if (service.image !== 'rrs:latest') expect(service.image, name).toMatch(/^[\w/]+:\d[\w.-]*$/);
    }
  });

  it('runs two of each process without rights, writes only to volumes, and lets them finish', () => {
    for (const name of ['api', 'worker'] as const) {
      const service = services[name];
      expect(service).toMatchObject({ command: [name], read_only: true, cap_drop: ['ALL'], tmpfs: ['/tmp'], deploy: { replicas: 2 } });
      expect(service).toMatchObject({ security_opt: ['no-new-privileges:true'] });
      expect(service).not.toHaveProperty('user');
      expect(Number.parseInt(service?.stop_grace_period ?? '', 10)).toBeGreaterThan(25);
    }
    // Only the proxy can be reached, and only from this machine.
    expect(Object.entries(services).flatMap(([name, { ports = [] }]) => ports.map((port) => `${name} ${port}`))).toEqual(['proxy 127.0.0.1:8080:8080']);
  });

  it('has valid settings, with secrets that the script writes once', () => {
    cpSync(join(root, 'deploy/compose'), join(folder, 'compose'), { recursive: true, filter: (path) => !path.endsWith('/secrets') });
    const script = join(folder, 'compose/secrets.sh');
    const written = (): Record<string, string> => {
      execFileSync('sh', [script]);
      return Object.fromEntries(
        Object.entries(secrets).map(([name, { file }]) => [`/run/secrets/${name}`, readFileSync(join(folder, file.replace('deploy/', '')), 'utf8')]),
      );
    };
    const first = written();
    expect(written()).toEqual(first);
    expect(statSync(join(folder, 'compose/secrets')).mode & 0o777).toBe(0o700);
    const password = first['/run/secrets/database-password'];
    expect(password).toMatch(/^[0-9a-f]{48}$/);
    expect(first['/run/secrets/database-url']).toBe(`postgresql://rrs:${password}@postgres/rrs`);
    expect(JSON.parse(first['/run/secrets/s3-config'] ?? '').identities[0].credentials[0].secretKey).toBe(first['/run/secrets/s3-secret-key']);
    const settings = Object.fromEntries(
      Object.entries(services.api?.environment ?? {}).map(([name, value]) => [name, value.replace(/^\$\{\w+:-(.*)\}$/, '$1')]),
    );
    expect(warningsOf({ ...imageSettings, ...settings }, first)).toEqual([]);
  });
});

interface Container {
  args: string[];
  env: { name: string; value: string }[];
  securityContext: object;
  volumeMounts: { name: string; mountPath: string }[];
}
interface Resource {
  kind: string;
  metadata: { name: string };
  spec: {
    selector: { matchLabels: object };
    template: { metadata: { labels: object }; spec: { containers: Container[]; volumes: { name: string }[]; terminationGracePeriodSeconds: number } };
  };
}

describe('Helm chart', () => {
  const chart = parse(read('deploy/helm/rrs/Chart.yaml')) as { name: string; version: string; appVersion: string };
  const defaults = parse(read('deploy/helm/rrs/values.yaml')) as Record<string, object>;
  const required = { publicUrl: 'https://rrs.example.com', database: { existingSecret: 'rrs-database' }, s3: { bucket: 'rrs' } };
  const everything = {
    ...required,
    s3: { bucket: 'rrs', accessKeyId: 'rrs', existingSecret: 'rrs-s3' },
    secretSettings: [{ setting: 'RRS_METRICS_TOKEN', secret: 'rrs-metrics', key: 'token' }],
    settings: { LOG_LEVEL: 'warn', RRS_RATE_LIMIT: 100 },
    ingress: { enabled: true, host: 'rrs.example.com', tlsSecret: 'rrs-tls', className: 'nginx', annotations: { 'example.com/a': 'b' } },
    podMonitor: { enabled: true },
    imagePullSecrets: [{ name: 'registry' }],
  };

  function render(values: Readonly<Record<string, unknown>>): Resource[] {
    const Values = Object.fromEntries(
      Object.entries({ ...defaults, ...values }).map(([name, value]) => [
        name,
        Array.isArray(value) || Object(value) !== value ? value : { ...defaults[name], ...Object(value) },
      ]),
    );
    const names = readdirSync(join(root, 'deploy/helm/rrs/templates'));
    const files = Object.fromEntries(names.map((name) => [name, read(`deploy/helm/rrs/templates/${name}`)]));
    const context = { Values, Chart: { Version: chart.version, AppVersion: chart.appVersion }, Release: { Name: 'demo', Namespace: 'rrs', Service: 'Helm' } };
    const rendered = renderer(files, context, (value) => stringify(value, { sortMapEntries: true }).trimEnd());
    return names
      .filter((name) => name.endsWith('.yaml'))
      .flatMap((name) => parseAllDocuments(rendered(name)))
      .flatMap((document) => {
        expect('errors' in document ? document.errors : []).toEqual([]);
        return (document.toJS() as Resource | null) ?? [];
      });
  }

  it('has the version of the service', () => {
    const { version } = JSON.parse(read('package.json'));
    expect(chart).toMatchObject({ name: 'rrs', version, appVersion: version });
  });

  it('asks for what it needs', () => {
    for (const [missing, message] of [
      ['database', 'Set database.existingSecret'],
      ['publicUrl', 'Set publicUrl'],
      ['s3', 'Set s3.bucket'],
    ] as const) {
      const { [missing]: _, ...rest } = required;
      expect(() => render(rest), missing).toThrow(message);
    }
    expect(() => render({ ...required, s3: { bucket: 'rrs', existingSecret: 'rrs-s3' } })).toThrow('Set s3.accessKeyId');
  });

  it('adds resources only if they are wanted', () => {
    const kinds = (values: Readonly<Record<string, unknown>>): string[] => render(values).map(({ kind, metadata }) => `${kind} ${metadata.name}`);
    const always = ['Deployment demo-api', 'PersistentVolumeClaim demo-keys', 'PodDisruptionBudget demo-api', 'Service demo', 'ServiceAccount demo'];
    expect(kinds(required).sort()).toEqual([...always, 'Deployment demo-worker'].sort());
    expect(kinds(everything).sort()).toEqual([...always, 'Deployment demo-worker', 'Ingress demo', 'PodMonitor demo'].sort());
    expect(kinds({ ...required, keys: { existingClaim: 'mine' } })).not.toContain('PersistentVolumeClaim demo-keys');
  });

  it.each([
    ['little', required],
    ['everything', everything],
  ])('runs pods without rights, with valid settings, and lets them finish: %s', (_, values) => {
    const deployments = render(values).filter(({ kind }) => kind === 'Deployment');
    for (const { metadata, spec } of deployments) {
      const { containers, volumes, terminationGracePeriodSeconds, ...pod } = spec.template.spec;
      expect(spec.template.metadata.labels).toMatchObject(spec.selector.matchLabels);
      expect(pod).toMatchObject({
        automountServiceAccountToken: false,
        securityContext: { runAsNonRoot: true, runAsUser: 10001, fsGroupChangePolicy: 'OnRootMismatch', seccompProfile: { type: 'RuntimeDefault' } },
      });
      expect(terminationGracePeriodSeconds).toBeGreaterThan(30);
      const [container] = containers;
      expect(`demo-${container?.args[0]}`).toBe(metadata.name);
      expect(container).toMatchObject({
        securityContext: { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } },
        startupProbe: { httpGet: { path: '/healthz' } },
        livenessProbe: { httpGet: { path: '/healthz' } },
        readinessProbe: { httpGet: { path: '/readyz' } },
      });
      expect(container?.volumeMounts.map(({ name }) => name).sort()).toEqual(volumes.map(({ name }) => name).sort());
      const environment = Object.fromEntries(container?.env.map(({ name, value }) => [name, value]) ?? []);
      const mounted = Object.fromEntries(
        Object.entries(environment).flatMap(([name, path]) => {
          const isMounted = container?.volumeMounts.some(({ mountPath }) => path.startsWith(`${mountPath}/`));
          return name.endsWith('_FILE') && isMounted ? [[path, name === 'DATABASE_URL_FILE' ? 'postgresql://host/rrs' : 'a-secret-of-twenty-characters']] : [];
        }),
      );
      expect(warningsOf({ ...imageSettings, ...environment }, mounted)).toEqual([]);
    }
  });
});
