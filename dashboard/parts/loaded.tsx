import type { ComponentChildren } from "preact";
import { Loading } from "./loading.tsx";
import { Problem } from "./problem.tsx";
import type { Resource } from "./use-resource.ts";

type Props<Value> = {
  readonly of: Resource<Value>;
  /** The name of the data, while they are loaded. */
  readonly what?: string;
  readonly children: (value: Value) => ComponentChildren;
};

/** Data of the API, or the reason why they cannot be loaded. Older data stay when a later request fails. */
export function Loaded<Value>({ of: { value, error, reload }, what, children }: Props<Value>) {
  return (
    <>
      <Problem error={error} retry={reload} />
      {value !== undefined ? children(value) : error === undefined && <Loading what={what} />}
    </>
  );
}
