// What all pages share: navigation and the main part.
import type { ComponentChildren } from "preact";
import { session } from "../core/session.ts";
import { Link } from "../parts/link.tsx";

export function Layout({ children }: { readonly children: ComponentChildren }) {
  return (
    <>
      <nav>
        <Link to="/">Jobs</Link>
        <Link to="/new">New job</Link>
        {session.value?.operator && <Link to="/nodes">Nodes</Link>}
        <Link to="/usage">Usage</Link>
        <Link to="/settings">Settings</Link>
      </nav>
      <main>{children}</main>
    </>
  );
}
