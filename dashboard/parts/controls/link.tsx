import type { ComponentChildren } from "preact";
import { href, navigate, path } from "../../core/location.ts";

/** A link to a page of the dashboard. A click needs no request, unless it opens another tab or window. */
export function Link({
  to,
  children,
  ...rest
}: {
  readonly to: string;
  readonly children: ComponentChildren;
  readonly class?: string;
}) {
  return (
    <a
      {...rest}
      href={href(to)}
      aria-current={path.value === to ? "page" : undefined}
      onClick={(event) => {
        if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return;
        event.preventDefault();
        navigate(to);
      }}
    >
      {children}
    </a>
  );
}
