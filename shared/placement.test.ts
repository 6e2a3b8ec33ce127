import { expect, it } from "vitest";
import { labelsOf } from "./placement.ts";

it.each<[bound: string[], own: string[], labels: string[]]>([
  [[], [], []],
  [[], ["spot", "gpu", "gpu"], ["gpu", "spot"]],
  [["region:eu"], ["disk:ssd"], ["disk:ssd", "region:eu"]],
  [["region:eu"], ["region:us", "region", "regional"], ["region:eu", "regional"]],
  [["gpu"], ["gpu:a10"], ["gpu"]],
  [[], ["Not A Label", "a:b:c", ""], []],
])("merges the token's labels %j and the node's own %j to %j", (bound, requested, labels) => {
  expect(labelsOf(bound, requested)).toEqual(labels);
});
