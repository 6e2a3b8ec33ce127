// Uploads of local files in parts. A failed part can be sent again.
import { type Bytes, Caller, type CallOptions, type Fetch, isSizedStream, pages } from "../http/caller.ts";
import type { Upload, UploadList, UploadPart, UploadSummary } from "../types/api.ts";

/** A source that can be read at any position: a `Blob`, a `File`, `fileSource` of `@copra/client/node`, or your own. */
export type SlicedSource = { readonly size: number; slice(start: number, end: number): Bytes | Promise<Bytes> };

export type SendOptions = CallOptions & {
  /** The name of the file. A `File` has a name by default. */
  readonly name?: string | undefined;
  /** Continues this upload: parts that the service already has are not sent again. */
  readonly id?: string | undefined;
  /** The size of a stream in bytes. */
  readonly size?: number | undefined;
  /**
   * Number of parts sent at the same time. By default 4, and 1 for streams: a part of a stream is in memory while it is
   * sent.
   */
  readonly concurrency?: number | undefined;
  /**
   * Called with the new upload, and after each part. Files of `@copra/client/node` also report while a part is sent.
   */
  readonly onProgress?: ((upload: Upload, sentBytes: number) => void) | undefined;
};

const pathOf = (id: string, rest = ""): string => `/v2/uploads/${encodeURIComponent(id)}${rest}`;

export class Uploads {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  create(file: { readonly name: string; readonly size: number }, options?: CallOptions): Promise<Upload> {
    return this.#caller.json("/v2/uploads", { ...options, method: "POST", json: file });
  }

  get(id: string, options?: CallOptions): Promise<Upload> {
    return this.#caller.json(pathOf(id), options);
  }

  /** All uploads that are not removed yet, newest first. Reads pages as they are needed. */
  async *list(options?: CallOptions): AsyncGenerator<UploadSummary> {
    const read = (cursor: string | undefined): Promise<UploadList> =>
      this.#caller.json("/v2/uploads", { ...options, query: { cursor } });
    for await (const page of pages(read)) yield* page.uploads;
  }

  /** Sends a part; parts are counted from 1. Sending a part again replaces it. */
  part(id: string, number: number, body: Bytes, options?: CallOptions): Promise<UploadPart> {
    const call = { ...options, method: "PUT", body, timeoutSeconds: 0 } as const;
    return this.#caller.json(pathOf(id, `/parts/${number}`), call);
  }

  complete(id: string, options?: CallOptions): Promise<Upload> {
    return this.#caller.json(pathOf(id, "/complete"), { ...options, method: "POST", repeatable: true });
  }

  /** Removes an upload that no job needs. */
  delete(id: string, options?: CallOptions): Promise<Upload> {
    return this.#caller.json(pathOf(id), { ...options, method: "DELETE" });
  }

  /**
   * Sends a whole file, several parts at a time, and completes the upload. A job reads it with `input: { upload: id }`.
   */
  send(source: SlicedSource | ReadableStream<Uint8Array>, options: SendOptions = {}): Promise<Upload> {
    const { id } = options;
    return sendFile(source, options, {
      start: (file, call) => (id === undefined ? this.create(file, call) : this.get(id, call)),
      part: (upload, number, bytes, call) => this.part(upload.id, number, bytes, call),
      complete: (upload, call) => this.complete(upload.id, call),
    });
  }
}

/** The URL of an upload link; the other fields of an upload link do not matter. */
export type LinkTarget = string | { readonly url: string };

/**
 * Sends a whole file to an upload link, several parts at a time. Needs no API key, and also runs in browsers. After an
 * interruption, the same call sends only the missing parts.
 */
export function upload(
  source: SlicedSource | ReadableStream<Uint8Array>,
  link: LinkTarget,
  options: Omit<SendOptions, "id"> & { readonly fetch?: Fetch | undefined; readonly retries?: number | undefined } = {},
): Promise<Upload> {
  const caller = new Caller(typeof link === "string" ? link : link.url, undefined, options.fetch, options.retries);
  return sendFile(source, options, {
    start: (file, call) => caller.json("", { ...call, method: "POST", json: file, repeatable: true }),
    part: (_, number, body, call) =>
      caller.json(`/parts/${number}`, { ...call, method: "PUT", body, timeoutSeconds: 0 }),
    complete: (_, call) => caller.json("/complete", { ...call, method: "POST", repeatable: true }),
  });
}

/** The requests of an upload. */
type Requests = {
  /** Starts the upload, or gets the upload that was started before. */
  start(file: { readonly name: string; readonly size: number }, options: CallOptions): Promise<Upload>;
  part(upload: Upload, number: number, body: Bytes, options: CallOptions): Promise<UploadPart>;
  complete(upload: Upload, options: CallOptions): Promise<Upload>;
};

async function sendFile(
  source: SlicedSource | ReadableStream<Uint8Array>,
  options: SendOptions,
  requests: Requests,
): Promise<Upload> {
  const isStream = source instanceof ReadableStream;
  const { signal, onProgress, size = isStream ? undefined : source.size } = options;
  if (size === undefined) throw new TypeError("The `size` of a stream is missing");
  const name = options.name ?? ("name" in source && typeof source.name === "string" ? source.name : "upload");
  const upload = await requests.start({ name, size }, { signal });
  if (upload.size !== size) throw new RangeError(`The upload is for ${upload.size} bytes, and the file has ${size}`);
  const slices = isStream ? inOrder(source) : source;
  const stored = new Map(upload.parts.map((part) => [part.number, part.size]));
  const sent = new Map<number, number>();
  let next = 1;
  const report = (number: number, bytes: number): void => {
    sent.set(number, bytes);
    onProgress?.(
      upload,
      [...sent.values()].reduce((sum, bytes) => sum + bytes, 0),
    );
  };
  report(0, 0);
  const stop = new AbortController();
  const partSignal = signal ? AbortSignal.any([signal, stop.signal]) : stop.signal;
  const sendParts = async (): Promise<void> => {
    for (let number = next++; (number - 1) * upload.part_size < size; number = next++) {
      const start = (number - 1) * upload.part_size;
      const end = Math.min(start + upload.part_size, size);
      const isStored = stored.get(number) === end - start;
      // A stream must also be read past parts that are already stored.
      if (isStream || !isStored) {
        const body = counted(await slices.slice(start, end), (bytes) => report(number, bytes));
        if (!isStored) await requests.part(upload, number, body, { signal: partSignal });
      }
      report(number, end - start);
    }
  };
  try {
    const concurrency = isStream ? 1 : (options.concurrency ?? 4);
    await Promise.all(Array.from({ length: concurrency }, sendParts));
  } finally {
    // Stops the other parts after a failure.
    stop.abort();
  }
  return requests.complete(upload, { signal });
}

/** The same bytes. They report the number of bytes that were read. */
function counted(body: Bytes, report: (bytes: number) => void): Bytes {
  if (!isSizedStream(body)) return body;
  const { size } = body;
  const stream = (): ReadableStream<Uint8Array> => {
    let bytes = 0;
    return body.stream().pipeThrough(
      new TransformStream<Uint8Array, Uint8Array>({
        transform(chunk, controller) {
          bytes += chunk.length;
          report(bytes);
          controller.enqueue(chunk);
        },
      }),
    );
  };
  return { size, stream };
}

/** Slices of a stream. They must be read in order. */
function inOrder(stream: ReadableStream<Uint8Array>): Pick<SlicedSource, "slice"> {
  const reader = stream.getReader();
  let rest: Uint8Array = new Uint8Array();
  return {
    async slice(start, end) {
      const part = new Uint8Array(end - start);
      for (let filled = 0; filled < part.length; ) {
        if (rest.length === 0) {
          const { done, value } = await reader.read();
          if (done) throw new RangeError(`The stream ended after ${start + filled} bytes`);
          rest = value;
        }
        const taken = rest.subarray(0, part.length - filled);
        part.set(taken, filled);
        filled += taken.length;
        rest = rest.subarray(taken.length);
      }
      return part;
    },
  };
}
