// A node's findings about the source of the form.
import { useEffect, useRef, useState } from "preact/hooks";
import type { NewProbe, Probe } from "../../../client/index.ts";
import { copra } from "../../core/service.ts";
import { isObject, textAt } from "../request/edit.ts";
import { missingIn } from "../request/plannable.ts";
import type { Json } from "../secrets.ts";

export type Probing = {
  readonly isReading: boolean;
  /** The completed probe of the present source. */
  readonly probe: Probe | null;
  readonly error: unknown;
  /** Reads the source; null while the form lacks a part of the source's location. */
  readonly read: (() => void) | null;
};

/** Probes read the whole source. */
const wholeInput = (input: unknown): unknown =>
  isObject(input) ? { ...input, start: undefined, end: undefined } : input;

type State = Pick<Probing, "isReading" | "probe" | "error">;
const NONE: State = { isReading: false, probe: null, error: null };

/** Reads the source on request. A complete upload is read at once, because that sends no request to another server. */
export function useProbe(request: Json, uploadKind: string): Probing {
  const [state, setState] = useState<State>(NONE);
  const abort = useRef(new AbortController());
  const { input, settings } = request;
  const isUpload = isObject(input) && "upload" in input;
  const isComplete = isUpload
    ? uploadKind === "done" && textAt(input, ["upload"]) !== ""
    : missingIn(request).every(({ field }) => !field.startsWith("input."));
  const { queue, require } = isObject(settings) ? settings : {};
  const body = JSON.stringify({ input: wholeInput(input), settings: { queue, require } });
  const read = (): void => {
    abort.current.abort();
    abort.current = new AbortController();
    const { signal } = abort.current;
    setState({ ...NONE, isReading: true });
    copra.probes.run(JSON.parse(body) as NewProbe, { signal }).then(
      (probe) => signal.aborted || setState({ ...NONE, probe }),
      (error: unknown) => signal.aborted || setState({ ...NONE, error }),
    );
  };
  useEffect(() => {
    abort.current.abort();
    setState(NONE);
    if (isUpload && isComplete) read();
  }, [body, isUpload && isComplete]);
  useEffect(() => () => abort.current.abort(), []);
  return { ...state, read: isComplete ? read : null };
}
