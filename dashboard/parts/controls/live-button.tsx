import { live, paused } from "../../core/account-events.ts";
import { useKeys } from "../../core/keyboard.ts";
import { Button } from "./button.tsx";

const STATES = {
  live: "Live",
  connecting: "Connecting …",
  lost: "Reconnecting …",
  off: "Live",
} as const satisfies Record<typeof live.value, string>;

/** Pauses and resumes the live updates of the page, and shows their state. */
export function LiveButton() {
  const toggle = (): void => {
    paused.value = !paused.value;
  };
  useKeys({ p: { help: "Pause or resume live updates", run: toggle } });
  return (
    <Button
      icon={paused.value ? "play" : "pause"}
      text={paused.value ? "Paused" : STATES[live.value]}
      of={paused.value ? ": resume live updates" : ": pause live updates"}
      aria-pressed={paused.value}
      onClick={toggle}
    />
  );
}
