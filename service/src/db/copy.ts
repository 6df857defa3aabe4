import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type pg from 'pg';
import { from } from 'pg-copy-streams';

export type CopyClient = pg.ClientBase;

/** `COPY … FROM STDIN` of lines in text format, on a connection that is not pipelined. */
export async function copyLines(client: pg.ClientBase, table: string, columns: readonly string[], lines: readonly string[]): Promise<void> {
  if (lines.length === 0) return;
  await pipeline(Readable.from(blocks(lines)), client.query(from(`copy ${table} (${columns.join(', ')}) from stdin`)));
}

const BLOCK_CHARACTERS = 256 * 1024;

function* blocks(lines: readonly string[]): Generator<Buffer> {
  let block = '';
  for (const line of lines) {
    block += line;
    if (block.length >= BLOCK_CHARACTERS) {
      yield Buffer.from(block);
      block = '';
    }
  }
  if (block !== '') yield Buffer.from(block);
}
