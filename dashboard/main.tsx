// The dashboard: starts the app in the page that the Worker serves.
import { render } from "preact";
import { App } from "./app/app.tsx";
import { start } from "./app/start.ts";
import "./parts/style.css";

const root = document.getElementById("app");
if (root !== null) {
  render(<App />, root);
  await start();
}
