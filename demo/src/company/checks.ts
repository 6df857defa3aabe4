import type { Language } from './names.ts';

export interface CodeRule {
  id: string;
  message: string;
  severity: 'ERROR' | 'WARNING' | 'INFO';
  cwe: string;
  code: string;
}

const rule = (id: string, severity: CodeRule['severity'], cwe: string, code: string, message: string): CodeRule => ({ id, severity, cwe, code, message });

/** Rules in the manner of Semgrep's, with names of our own. */
export const codeRules: Readonly<Record<Language, readonly [CodeRule, ...CodeRule[]]>> = {
  typescript: [
    rule(
      'typescript.demo.sql-template',
      'ERROR',
      'CWE-89: SQL Injection',
      'db.query(`select * from orders where id = ${id}`)',
      'A template string with input becomes a SQL statement. Use parameters.',
    ),
    rule(
      'typescript.demo.unescaped-html',
      'ERROR',
      'CWE-79: Cross-site Scripting',
      'element.innerHTML = comment',
      'Text becomes HTML without escaping. Set textContent instead.',
    ),
    rule(
      'typescript.demo.open-redirect',
      'WARNING',
      'CWE-601: Open Redirect',
      'response.redirect(request.query.next)',
      'A redirect goes wherever the request says. Compare it with a list.',
    ),
    rule(
      'typescript.demo.weak-random',
      'WARNING',
      'CWE-330: Insufficiently Random Values',
      'const token = Math.random().toString(36)',
      'Math.random() can be predicted. Use crypto.randomUUID().',
    ),
    rule(
      'typescript.demo.missing-await',
      'INFO',
      'CWE-703: Improper Check of Exceptional Conditions',
      'audit.write(entry)',
      'The promise is not awaited, so its error is lost.',
    ),
  ],
  java: [
    rule(
      'java.demo.xml-entities',
      'ERROR',
      'CWE-611: XML External Entity Reference',
      'DocumentBuilderFactory.newInstance()',
      'The XML parser resolves external entities. Disable DOCTYPE declarations.',
    ),
    rule(
      'java.demo.ecb-cipher',
      'ERROR',
      'CWE-327: Broken or Risky Cryptographic Algorithm',
      'Cipher.getInstance("AES/ECB/PKCS5Padding")',
      'ECB shows equal blocks. Use AES/GCM/NoPadding.',
    ),
    rule(
      'java.demo.unsafe-deserialization',
      'ERROR',
      'CWE-502: Deserialization of Untrusted Data',
      'new ObjectInputStream(stream).readObject()',
      'Objects from outside can run code while they are read. Use JSON.',
    ),
    rule(
      'java.demo.logged-secret',
      'WARNING',
      'CWE-532: Sensitive Information in Log File',
      'log.info("session {}", session)',
      'The session id appears in the log.',
    ),
    rule(
      'java.demo.broad-catch',
      'INFO',
      'CWE-396: Declaration of Catch for Generic Exception',
      'catch (Exception e) {}',
      'All exceptions are swallowed here.',
    ),
  ],
  python: [
    rule(
      'python.demo.shell-command',
      'ERROR',
      'CWE-78: OS Command Injection',
      'subprocess.run(command, shell=True)',
      'Input reaches a shell. Pass a list of arguments.',
    ),
    rule(
      'python.demo.unsafe-yaml',
      'ERROR',
      'CWE-502: Deserialization of Untrusted Data',
      'yaml.load(stream)',
      'yaml.load() creates any object. Use yaml.safe_load().',
    ),
    rule(
      'python.demo.no-certificate-check',
      'WARNING',
      'CWE-295: Improper Certificate Validation',
      'requests.get(url, verify=False)',
      'The certificate is not checked.',
    ),
    rule(
      'python.demo.temporary-name',
      'WARNING',
      'CWE-377: Insecure Temporary File',
      'tempfile.mktemp()',
      'Another program can create the file first. Use mkstemp().',
    ),
    rule('python.demo.assert-in-code', 'INFO', 'CWE-617: Reachable Assertion', 'assert user.is_admin', 'Assertions are removed with -O.'),
  ],
  go: [
    rule('go.demo.path-join', 'ERROR', 'CWE-22: Path Traversal', 'os.Open(filepath.Join(root, name))', 'A name with ".." leaves the folder. Use os.Root.'),
    rule(
      'go.demo.formatted-sql',
      'ERROR',
      'CWE-89: SQL Injection',
      'db.Query(fmt.Sprintf("select * from parcels where id = %s", id))',
      'A formatted string becomes a SQL statement. Use parameters.',
    ),
    rule(
      'go.demo.no-timeout',
      'WARNING',
      'CWE-400: Uncontrolled Resource Consumption',
      'http.ListenAndServe(address, nil)',
      'Without timeouts, slow clients hold connections forever.',
    ),
    rule(
      'go.demo.old-tls',
      'WARNING',
      'CWE-326: Inadequate Encryption Strength',
      'tls.Config{MinVersion: tls.VersionTLS10}',
      'TLS 1.0 is broken. Set MinVersion to TLS 1.2 or newer.',
    ),
    rule('go.demo.ignored-error', 'INFO', 'CWE-252: Unchecked Return Value', '_ = file.Close()', 'The error is ignored.'),
  ],
};

export const folders: Readonly<Record<Language, readonly [string, ...string[]]>> = {
  typescript: ['src/api', 'src/cart', 'src/pages', 'src/lib', 'test'],
  java: ['src/main/java/parcel/api', 'src/main/java/parcel/store', 'src/main/java/parcel/security', 'src/test/java/parcel'],
  python: ['app/views', 'app/jobs', 'app/models', 'tests'],
  go: ['cmd/server', 'internal/store', 'internal/http', 'internal/queue'],
};
export const extensions: Readonly<Record<Language, string>> = { typescript: 'ts', java: 'java', python: 'py', go: 'go' };
export const fileNames = [
  'orders',
  'sessions',
  'labels',
  'parcels',
  'prices',
  'export',
  'search',
  'upload',
  'webhook',
  'addresses',
  'reports',
  'users',
] as const;

export const secretRules = [
  { id: 'aws-access-token', description: 'Identified an AWS access key id.', file: 'deploy/terraform.tfvars' },
  { id: 'private-key', description: 'Identified a private key.', file: 'config/tls/server.key' },
  { id: 'generic-api-key', description: 'Detected a generic API key.', file: '.env.staging' },
  { id: 'slack-webhook-url', description: 'Discovered a Slack webhook.', file: 'scripts/notify.sh' },
] as const;

/** Checks of hosts: plugin number, name, severity 1 to 4, port. */
export const hostChecks = Array.from({ length: 90 }, (_, n) => {
  const products = ['OpenSSH', 'OpenSSL', 'PostgreSQL', 'nginx', 'Linux kernel', 'sudo', 'Samba', 'Postfix', 'BIND', 'Apache HTTP Server'] as const;
  const problems = ['Multiple Vulnerabilities', 'Privilege Escalation', 'Denial of Service', 'Information Disclosure'] as const;
  const product = products[n % products.length] ?? products[0];
  const severity = [2, 3, 2, 1, 2, 3, 4, 2, 1][n % 9] ?? 2;
  return {
    id: 700_100 + n,
    name: `${product} < ${1 + (n % 9)}.${n} ${problems[n % problems.length]}`,
    product,
    severity,
    port: [22, 443, 5432, 80, 0][n % 5] ?? 0,
    cve: `CVE-2025-${98_000 + n}`,
  };
});

/** Alerts of web applications, with risk 0 to 3. */
export const webAlerts = [
  { id: 10_035, name: 'Strict-Transport-Security Header Not Set', risk: 1, cwe: 319 },
  { id: 10_038, name: 'Content Security Policy (CSP) Header Not Set', risk: 2, cwe: 693 },
  { id: 10_020, name: 'Missing Anti-clickjacking Header', risk: 2, cwe: 1021 },
  { id: 10_010, name: 'Cookie No HttpOnly Flag', risk: 1, cwe: 1004 },
  { id: 10_202, name: 'Absence of Anti-CSRF Tokens', risk: 2, cwe: 352 },
  { id: 40_012, name: 'Cross Site Scripting (Reflected)', risk: 3, cwe: 79 },
  { id: 40_018, name: 'SQL Injection', risk: 3, cwe: 89 },
  { id: 10_096, name: 'Timestamp Disclosure', risk: 1, cwe: 497 },
  { id: 10_017, name: 'Cross-Domain JavaScript Source File Inclusion', risk: 1, cwe: 829 },
] as const;
export const pages = ['/', '/login', '/search', '/orders', '/track', '/account', '/help'] as const;
