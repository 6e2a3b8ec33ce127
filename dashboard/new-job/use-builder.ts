// The state of the page, synchronized with the fragment of its URL.
import { useEffect, useRef, useState } from "preact/hooks";
import { fragment, navigate } from "../core/location.ts";
import { outputsOf } from "./request/goals.ts";
import { outputsSection } from "./request/output-list.ts";
import type { Json } from "./secrets.ts";
import { assumedSource, type BuilderState, hashOfRequest, stateOfHash } from "./state.ts";

/** The first request: a video for the web in the test storage, which needs no keys. */
const FIRST: Json = {
  input: { url: "" },
  storage: { service: "coconut" },
  outputs: outputsSection(outputsOf("video")),
  notification: { type: "none" },
};
const DELAY_MS = 300;

export type Builder = BuilderState & {
  readonly setRequest: (change: (request: Json) => Json) => void;
  readonly setSource: (source: Json) => void;
};

export function useBuilder(): Builder {
  const [state, setState] = useState<BuilderState>(
    () => stateOfHash(fragment.peek()) ?? { request: FIRST, source: {} },
  );
  const written = useRef(fragment.peek());
  // Follows somebody else's link, and the browser's "back".
  useEffect(() => {
    if (fragment.value === written.current) return;
    written.current = fragment.value;
    setState(stateOfHash(fragment.value) ?? { request: FIRST, source: {} });
  }, [fragment.value]);
  useEffect(() => {
    const timer = setTimeout(() => {
      const hash = hashOfRequest(state.request, state.source);
      if (hash === `#${written.current}` || hash === `#${fragment.peek()}`) return;
      navigate(`/new${hash}`, { replace: true });
      written.current = fragment.peek();
    }, DELAY_MS);
    return () => clearTimeout(timer);
  }, [state]);
  return {
    ...state,
    setRequest: (change) => setState((before) => ({ ...before, request: change(before.request) })),
    setSource: (source) => setState((before) => ({ ...before, source: assumedSource(source) })),
  };
}
