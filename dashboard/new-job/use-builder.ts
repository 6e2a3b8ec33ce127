// The state of the page, synchronized with the fragment of its URL.
import { useEffect, useRef, useState } from "preact/hooks";
import { fragment, navigate } from "../core/location.ts";
import { outputsOf } from "./request/goals.ts";
import { outputsSection } from "./request/output-list.ts";
import type { Json } from "./secrets.ts";
import { hashOfRequest, requestOfHash } from "./state.ts";

/** The first request: a video for the web in the test storage, which needs no keys. */
const FIRST: Json = {
  input: { url: "" },
  storage: { service: "coconut" },
  outputs: outputsSection(outputsOf("video")),
  notification: { type: "none" },
};
const DELAY_MS = 300;

export type Builder = { readonly request: Json; readonly setRequest: (change: (request: Json) => Json) => void };

export function useBuilder(): Builder {
  const [request, setRequest] = useState(() => requestOfHash(fragment.peek()) ?? FIRST);
  const written = useRef(fragment.peek());
  // Follows somebody else's link, and the browser's "back".
  useEffect(() => {
    if (fragment.value === written.current) return;
    written.current = fragment.value;
    setRequest(requestOfHash(fragment.value) ?? FIRST);
  }, [fragment.value]);
  useEffect(() => {
    const timer = setTimeout(() => {
      const hash = hashOfRequest(request);
      if (hash === `#${written.current}` || hash === `#${fragment.peek()}`) return;
      navigate(`/new${hash}`, { replace: true });
      written.current = fragment.peek();
    }, DELAY_MS);
    return () => clearTimeout(timer);
  }, [request]);
  return { request, setRequest };
}
