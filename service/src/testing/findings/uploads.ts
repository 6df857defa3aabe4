import type { ScanScope } from '../../findings/import/manage-imports.ts';
import type { Engine } from './imports.ts';

const shop = { type: 'repository', name: 'https://git.example.com/shop' } as const;

/** Imports complete reports about one repository. */
export function uploadsTo(engine: Engine) {
  return {
    async upload(org: string, format: string, report: unknown, scope: ScanScope = {}) {
      const bytes = Buffer.from(typeof report === 'string' ? report : JSON.stringify(report));
      return engine.runFile(org, { format, name: `${format}.txt`, bytes }, { coverage: 'complete', asset: shop, ...scope });
    },
    statuses: async (org: string) => Object.fromEntries((await engine.findings(org)).map(({ title, status }) => [title, status])),
  };
}
