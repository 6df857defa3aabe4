/** How much of a body was sent. `total` is null if its size is not known. */
export interface Progress {
  sent: number;
  total: number | null;
}

/** Reports how much of a body is read while it is sent. */
export function counted(body: Blob | ReadableStream<Uint8Array>, report: (progress: Progress) => void): ReadableStream<Uint8Array> {
  const total = body instanceof Blob ? body.size : null;
  let sent = 0;
  const stream = body instanceof Blob ? body.stream() : body;
  return stream.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        sent += chunk.byteLength;
        report({ sent, total });
        controller.enqueue(chunk);
      },
    }),
  );
}
