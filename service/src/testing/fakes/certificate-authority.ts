import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

interface Certified {
  key: string;
  cert: string;
}

export interface TestAuthority {
  /** The root certificate in PEM, to be trusted by the client. */
  root: string;
  certify(name: string): Certified;
  remove(): void;
}

/** Creates a private certificate authority with openssl, as companies run them. */
export function makeAuthority(): TestAuthority {
  const folder = mkdtempSync(join(tmpdir(), 'rrs-authority-'));
  const make = (name: string, ...more: string[]): Certified => {
    const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-noenc', '-keyout', `${name}.key`];
    execFileSync('openssl', ['req', '-x509', ...key, '-out', `${name}.pem`, '-subj', `/CN=${name}`, '-days', '2', ...more], { cwd: folder, stdio: 'pipe' });
    return { key: readFileSync(join(folder, `${name}.key`), 'utf8'), cert: readFileSync(join(folder, `${name}.pem`), 'utf8') };
  };
  const root = make('root', '-addext', 'keyUsage=critical,keyCertSign');
  return {
    root: root.cert,
    certify: (name) =>
      make(name, '-CA', 'root.pem', '-CAkey', 'root.key', '-addext', `subjectAltName=DNS:${name}`, '-addext', 'basicConstraints=critical,CA:FALSE'),
    remove: () => rmSync(folder, { recursive: true }),
  };
}
