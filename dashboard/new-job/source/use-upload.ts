// The upload of a local file: sent in parts, paused and resumed.
import { useEffect, useRef, useState } from "preact/hooks";
import { copra } from "../../core/service.ts";

export type UploadState =
  | { readonly kind: "none" }
  | {
      readonly kind: "sending" | "paused" | "done";
      readonly name: string;
      readonly size: number;
      readonly sent: number;
    }
  | {
      readonly kind: "failed";
      readonly name: string;
      readonly size: number;
      readonly sent: number;
      readonly error: unknown;
    };

export type Upload = {
  readonly state: UploadState;
  /** Starts the upload of another file. */
  readonly start: (file: File) => void;
  readonly pause: () => void;
  /** Continues with the parts that the service does not have. */
  readonly resume: () => void;
};

/** Calls `begun` with the id of a new upload. The upload runs while its page is shown. */
export function useUpload(begun: (id: string) => void): Upload {
  const [state, setState] = useState<UploadState>({ kind: "none" });
  const current = useRef<{ readonly file: File; id: string | undefined; abort: AbortController } | null>(null);
  useEffect(() => () => current.current?.abort.abort(), []);
  const send = (file: File, id: string | undefined): void => {
    current.current?.abort.abort();
    const mine = { file, id, abort: new AbortController() };
    current.current = mine;
    const { name, size } = file;
    let sent = 0;
    const report = (kind: "sending" | "done"): void => {
      if (current.current === mine) setState({ kind, name, size, sent });
    };
    report("sending");
    const { signal } = mine.abort;
    const onProgress = (upload: { readonly id: string }, bytes: number): void => {
      if (mine.id === undefined) begun(upload.id);
      mine.id = upload.id;
      sent = bytes;
      report("sending");
    };
    copra.uploads.send(file, { id, signal, onProgress }).then(
      () => {
        sent = size;
        report("done");
      },
      (error: unknown) => {
        if (current.current !== mine) return;
        setState(signal.aborted ? { kind: "paused", name, size, sent } : { kind: "failed", name, size, sent, error });
      },
    );
  };
  return {
    state,
    start: (file) => send(file, undefined),
    pause: () => current.current?.abort.abort(),
    resume: () => current.current && send(current.current.file, current.current.id),
  };
}
