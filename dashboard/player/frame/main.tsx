// The player: a page in a sandboxed frame, without cookies and without access to the page around it. It is isolated
// because it reads media and playlists of other sites.
import { render } from "preact";
import { type FromFrame, parseToFrame } from "../messages.ts";
import { PlayerPage } from "./player-page.tsx";
import { createSideBySide, type SideBySide } from "./side-by-side.ts";
import "../../parts/tokens.css";
import "./frame.css";

/** The origin of the document's URL; the frame's own origin is opaque. */
const { origin } = location;
const root = document.getElementById("player");
let players: SideBySide | undefined;
let pressKey: ((key: string) => void) | undefined;

const send = (message: FromFrame): void => parent.postMessage(message, origin);

addEventListener("message", ({ data, source, origin: from }) => {
  if (source !== parent || from !== origin || root === null) return;
  const message = parseToFrame(data);
  if (message?.type === "key") pressKey?.(message.key);
  if (message?.type !== "open") return;
  players?.close();
  players = createSideBySide(message.opening, (problem) => send({ type: "problem", problem }));
  render(
    <PlayerPage
      key={String(performance.now())}
      players={players}
      sized={({ width, height }) => send({ type: "size", width, height })}
      passKey={(key) => send({ type: "key", key })}
      takeKeys={(press) => {
        pressKey = press;
      }}
    />,
    root,
  );
  players.play();
});
if (parent !== self) send({ type: "ready" });
