import { openvex } from './formats/openvex/index.ts';
import { rrsCsv } from './formats/rrs_csv/index.ts';
import { rrsNdjson } from './formats/rrs_ndjson/index.ts';
import { EXPORTER } from './shared/exported.ts';

const STATEMENTS: ReadonlySet<string> = new Set([openvex, rrsCsv, rrsNdjson].map(({ id }) => id));

/** Whether scans write reports of this format (`provider`) and tool. VEX documents and exports of this service only repeat what somebody knows. */
export function isScan({ provider, tool }: { provider: string; tool: string }): boolean {
  return !STATEMENTS.has(provider) && tool !== EXPORTER;
}
