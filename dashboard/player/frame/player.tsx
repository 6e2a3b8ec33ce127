// The player on its page: the video, or two, and the controls.
import { useSignal, useSignalEffect } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { Controls } from "./controls.tsx";
import { actionOf, belongsTo } from "./keys.ts";
import { Screen } from "./screen.tsx";
import type { Stage } from "./stage.ts";

type Props = {
  readonly stage: Stage;
  readonly sized: (size: { readonly width: number; readonly height: number }) => void;
  /** A key that is not the player's. */
  readonly passKey: (key: string) => void;
  /** Given what to call for a key that was pressed outside. */
  readonly takeKeys: (press: (key: string) => void) => void;
};

export function Player({ stage, sized, passKey, takeKeys }: Props) {
  const root = useRef<HTMLElement>(null);
  const full = (): void => {
    const done = document.fullscreenElement ? document.exitFullscreen() : root.current?.requestFullscreen();
    done?.catch(() => undefined);
  };
  useEffect(() => {
    takeKeys((key) => actionOf({ key, shiftKey: false }, stage, full)?.());
    const onKeyDown = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || belongsTo(event.target, event.key)) return;
      const action = actionOf(event, stage, full);
      if (action === null) return document.fullscreenElement ? undefined : passKey(event.key);
      event.preventDefault();
      action();
    };
    addEventListener("keydown", onKeyDown);
    return () => removeEventListener("keydown", onKeyDown);
  }, []);
  useSignalEffect(() => {
    const size = stage.leader.size.value;
    if (size) sized(size);
  });
  const divider = useSignal(50);
  return (
    <main ref={root} class="player">
      <h1>Player</h1>
      <Screen stage={stage} divider={divider} />
      <Controls stage={stage} divider={divider} full={full} />
    </main>
  );
}
