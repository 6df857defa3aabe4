import { createHash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import type { Source } from './archive/source.ts';
import type { Platform } from './platform.ts';

export function nodePlatform(): Platform {
  return { sha256, crc32, subtle: globalThis.crypto.subtle };
}

function sha256() {
  const hash = createHash('sha256');
  return { update: (bytes: Uint8Array) => void hash.update(bytes), digest: (): Uint8Array => new Uint8Array(hash.digest()) };
}

export async function openFile(path: string): Promise<Source & { close(): Promise<void> }> {
  const handle = await open(path, 'r');
  try {
    const stat = await handle.stat();
    if (!stat.isFile()) throw new Error(`${path} is not a file`);
    const { size } = stat;
    return { size, read: (offset, length) => readFully(handle, offset, length), close: () => handle.close() };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

async function readFully(handle: FileHandle, offset: number, length: number): Promise<Uint8Array> {
  const buffer = Buffer.allocUnsafeSlow(length);
  let filled = 0;
  while (filled < length) {
    const { bytesRead } = await handle.read(buffer, filled, length - filled, offset + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return buffer.subarray(0, filled);
}
