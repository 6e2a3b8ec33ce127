// The player in a page: a sandboxed frame without access to the session, because it reads media of other sites.
import { useEffect, useRef, useState } from "preact/hooks";
import { useKeys } from "../core/keyboard.ts";
import { BASE } from "../core/location.ts";
import { type Opening, type Problem, parseFromFrame, type ToFrame } from "./messages.ts";
import "./player-frame.css";

type Props = {
  /** Another object replaces the media; the same object keeps them. */
  readonly opening: Opening;
  /** The name of the media, for people who do not see the player. */
  readonly title: string;
  readonly close: () => void;
  readonly onProblem: (problem: Problem) => void;
};

/** Plays at once. The player's keys work in the whole page while it is visible. */
export function PlayerFrame({ opening, title, close, onProblem }: Props) {
  const frame = useRef<HTMLIFrameElement>(null);
  const [isReady, setReady] = useState(false);
  const latest = useRef({ close, onProblem });
  latest.current = { close, onProblem };
  // The frame's origin is opaque and cannot be the target. Messages contain only data that the frame could read itself.
  const send = (message: ToFrame): void => frame.current?.contentWindow?.postMessage(message, "*");

  useEffect(() => {
    const onMessage = ({ data, source, origin }: MessageEvent): void => {
      if (frame.current === null || source !== frame.current.contentWindow || origin !== "null") return;
      const message = parseFromFrame(data);
      if (message?.type === "ready") setReady(true);
      if (message?.type === "size") {
        setRatio(frame.current, message.width, message.height);
        // The frame has its height now.
        frame.current.parentElement?.scrollIntoView({ block: "nearest" });
      }
      if (message?.type === "problem") latest.current.onProblem(message.problem);
      if (message?.type === "key") pass(frame.current, message.key, latest.current.close);
    };
    addEventListener("message", onMessage);
    return () => removeEventListener("message", onMessage);
  }, []);
  useEffect(() => {
    if (!isReady) return;
    send({ type: "open", opening });
    frame.current?.focus();
  }, [isReady, opening]);
  usePlayerKeys(opening.media.length > 1, (key) => send({ type: "key", key }), close);
  return (
    <iframe
      ref={frame}
      class={opening.media.length > 1 ? "player-frame compares" : "player-frame"}
      title={title}
      src={`${BASE}/player`}
      sandbox="allow-scripts"
      allow="autoplay; fullscreen"
    />
  );
}

function usePlayerKeys(compares: boolean, press: (key: string) => void, close: () => void): void {
  const key = (name: string, help: string) => ({ [name]: { help, run: () => press(name) } });
  useKeys(
    {
      ...key(" ", "Play or pause"),
      ...key(",", "Previous frame"),
      ...key(".", "Next frame"),
      ...key("m", "Mute"),
      ...(compares ? { ...key("t", "Swap A and B"), ...key("b", "Show both") } : {}),
      Escape: { help: "Close the player", run: close },
    },
    "Player",
  );
}

/** Handles a shortcut of the page that was pressed in the frame, as if it had been pressed on the frame. */
function pass(frame: HTMLIFrameElement, key: string, close: () => void): void {
  if (key === "Escape") return close();
  frame.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
}

function setRatio({ style }: HTMLIFrameElement, width: number, height: number): void {
  style.setProperty("--ratio", width > 0 && height > 0 ? String(width / height) : "4");
}
