// The events of all jobs of the account, over one stream per tab.
import { computed, effect, type ReadonlySignal, signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { type AccountEvent, Copra } from "../../client/index.ts";
import { sendWithSession, url } from "./service.ts";
import { account, session } from "./session.ts";

/** True if the person paused live updates; pages that poll should stop, too. */
export const paused = signal(false);

/** The state of the stream: `off` while nobody listens, or it is paused or hidden. */
export const live = signal<"off" | "connecting" | "live" | "lost">("off");

type Listener = (event: AccountEvent) => void;
const listeners = new Set<Listener>();
const listening = signal(0);

/** How long a hidden tab listens on. */
const HIDDEN_MS = 60_000;
/** How long the stream outlives its last listener: pages replace each other. */
const UNUSED_MS = 3000;
/** True if the tab has been hidden for long: then nothing listens. */
export const hidden = globalThis.document ? hiddenFor(document, HIDDEN_MS) : signal(false);

/**
 * Calls `listener` for each event while it is subscribed; returns the end of the subscription. After a pause it gets
 * what it missed, or a `gap`: then read the data again.
 */
export function onAccountEvent(listener: Listener): () => void {
  listeners.add(listener);
  listening.value = listeners.size;
  return () => {
    listeners.delete(listener);
    setTimeout(() => {
      listening.value = listeners.size;
    }, UNUSED_MS);
  };
}

/** The same while a component is shown; `listener` may be another one at each rendering. */
export function useAccountEvents(listener: Listener): void {
  const latest = useRef(listener);
  latest.current = listener;
  useEffect(() => onAccountEvent((event) => latest.current(event)), []);
}

/** Its responses show that the stream is open, before the first event. */
const copra = new Copra({
  url,
  fetch: async (input, init) => {
    const response = await sendWithSession(input, init);
    if (response.ok) live.value = "live";
    return response;
  },
});

function send(event: AccountEvent): void {
  for (const listener of listeners) listener(event);
}

/** Where the stream of an account (`of`) goes on; `again`: whether it was open before. */
type Position = { readonly of: string | undefined; id: string | undefined; again: boolean };

/** Reads the stream until it is aborted. A stream that was interrupted before its first event reports a gap. */
async function read(signal: AbortSignal, from: Position): Promise<void> {
  if (from.again && from.id === undefined) send({ id: "", event: "gap", data: { missed: true } });
  from.again = true;
  const onReconnect = (): void => {
    live.value = "lost";
  };
  try {
    for await (const event of copra.events({ signal, lastEventId: from.id, onReconnect })) {
      from.id = event.id;
      send(event);
    }
  } catch {
    if (!signal.aborted) live.value = "lost";
  }
}

const accountId = computed(() => account.value?.id);
const isWanted = computed(
  () => !!session.value && accountId.value !== undefined && listening.value > 0 && !paused.value && !hidden.value,
);

if (globalThis.document) {
  let from: Position = { of: undefined, id: undefined, again: false };
  effect(() => {
    const of = accountId.value;
    if (from.of !== of) from = { of, id: undefined, again: false };
    if (!isWanted.value) {
      live.value = "off";
      return;
    }
    live.value = "connecting";
    const abort = new AbortController();
    read(abort.signal, from).catch(() => undefined);
    return () => abort.abort();
  });
}

// Whether nobody has looked at a page for long.

/** True while `page` has been hidden for `ms`, also when it was opened in the background. */
export function hiddenFor(page: Pick<Document, "hidden" | "addEventListener">, ms: number): ReadonlySignal<boolean> {
  const isHidden = signal(false);
  let timer: ReturnType<typeof setTimeout> | undefined;
  const look = (): void => {
    clearTimeout(timer);
    if (!page.hidden) isHidden.value = false;
    else {
      timer = setTimeout(() => {
        isHidden.value = true;
      }, ms);
    }
  };
  page.addEventListener("visibilitychange", look);
  look();
  return isHidden;
}
