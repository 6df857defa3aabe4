import { type Problem, RrsConnectionError, RrsError } from '@rrs/client';

export interface Download {
  url: string;
  size: number;
  media_type: string;
}

/** Downloads a file into this page, in one request. */
export async function fetchFile({ url, size, media_type }: Download, onShare: (share: number) => void): Promise<File> {
  const response = await fetch(url).catch((error: unknown) => {
    throw new RrsConnectionError(new URL(url, location.origin).href, error);
  });
  if (!response.ok || response.body === null) throw new RrsError(response, (await response.json().catch(() => null)) as Partial<Problem> | null);
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  let received = 0;
  const reader = response.body.getReader();
  for (let { done, value } = await reader.read(); !done; { done, value } = await reader.read()) {
    if (value === undefined) continue;
    pieces.push(value);
    received += value.length;
    onShare(received / Math.max(1, size));
  }
  const name = /filename="?([\w.-]+)/.exec(response.headers.get('content-disposition') ?? '')?.[1] ?? 'package.zip';
  return new File(pieces, name, { type: media_type });
}

/** Saves a file that this page has. */
export function saveFile(file: File): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(file);
  link.download = file.name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
