// The events of all jobs of the account, over one stream per tab.
import { computed, effect, type ReadonlySignal, signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { type AccountEvent, Copra } from "../../client/index.ts";
import { sendWithSession, url } from "./service.ts";
import { account, session } from "./session.ts";

/** True if the person paused live updates; pages that poll should stop, too. */
export const paused = signal(false);

/** The state of the stream. `off`: nobody listens, the stream is paused, or the tab is hidden. */
export const live = signal<"off" | "connecting" | "live" | "lost">("off");

type Listener = (event: AccountEvent) => void;
const listeners = new Set<Listener>();
const listening = signal(0);

/** A hidden tab keeps the stream for this time. */
const HIDDEN_MS = 60_000;
/** The stream stays open for this time after its last listener, because pages replace each other. */
const UNUSED_MS = 3000;
/** True if the tab has been hidden for so long that nothing listens. */
export const hidden = globalThis.document ? hiddenFor(document, HIDDEN_MS) : signal(false);

/**
 * Calls `listener` for each event; returns a function that ends the subscription. When the stream opens, the listener
 * gets the events since the last event, or a `gap`: then read the data again.
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

/** Subscribes `listener` while a component is shown. Each rendering may pass another listener. */
export function useAccountEvents(listener: Listener): void {
  const latest = useRef(listener);
  latest.current = listener;
  useEffect(() => onAccountEvent((event) => latest.current(event)), []);
}

/** A response shows that the stream is open, before the first event. Without a position, events may be missing. */
const copra = new Copra({
  url,
  fetch: async (input, init) => {
    const response = await sendWithSession(input, init);
    if (response.ok) {
      live.value = "live";
      if (!new Headers(init?.headers).has("last-event-id")) send({ id: "", event: "gap", data: { missed: true } });
    }
    return response;
  },
});

function send(event: AccountEvent): void {
  for (const listener of listeners) listener(event);
}

/** The position in the stream of the account `of`. */
type Position = { readonly of: string | undefined; id: string | undefined };

/** Reads the stream until it is aborted. */
async function read(signal: AbortSignal, from: Position): Promise<void> {
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
  let from: Position = { of: undefined, id: undefined };
  effect(() => {
    const of = accountId.value;
    if (from.of !== of) from = { of, id: undefined };
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

// Detects pages that nobody has looked at for a long time.

/** True while `page` has been hidden for `ms`, also if it was opened in the background. */
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
