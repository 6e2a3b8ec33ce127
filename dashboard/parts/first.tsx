import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Button } from "./controls/button.tsx";

type Props<Item> = {
  readonly of: readonly Item[];
  readonly count: number;
  readonly children: (shown: readonly Item[]) => ComponentChildren;
};

/** The first entries of a list, and a button that shows all. */
export function First<Item>({ of: all, count, children }: Props<Item>) {
  const [isWhole, showWhole] = useState(false);
  const hasMore = !isWhole && all.length > count;
  return (
    <>
      {children(hasMore ? all.slice(0, count) : all)}
      {hasMore && <Button text={`Show all ${all.length}`} onClick={() => showWhole(true)} />}
    </>
  );
}
