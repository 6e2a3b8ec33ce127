import { expect, it } from "vitest";
import type { Profile } from "#shared/protocol/requirements.ts";
import { PROFILE } from "../testing/simulated-fleet.ts";
import { NodeProfiles } from "./node-profiles.ts";

const [NOW, TEN_MINUTES] = [1_000_000, 10 * 60_000];
const [NEAR, FAR]: [Profile, Profile] = [
  { ...PROFILE, region: "near" },
  { ...PROFILE, region: "far" },
];
const rankOf = ({ region }: Profile): number | null => (region === "near" ? 0 : 1);

it.each<[string, (fleet: NodeProfiles<unknown>) => void, (string | null)[]]>([
  ["ranks a profile that connects", (fleet) => fleet.connect(NEAR, 1), ["near", "far"]],
  ["ranks no profile twice", (fleet) => fleet.connect(FAR, 1), ["far"]],
  [
    "ranks a restored profile",
    (fleet) => fleet.restore({ profile: NEAR, isConnected: true, seenAt: NOW }),
    ["near", "far"],
  ],
  ["ranks a profile for ten minutes after its last node has gone", (fleet) => leave(fleet, TEN_MINUTES - 1), ["far"]],
  ["does not rank a profile whose nodes were all away for ten minutes", (fleet) => leave(fleet, TEN_MINUTES), []],
])("%s, though it has ranked the same requirements before", (_, change, regions) => {
  const fleet = new NodeProfiles<unknown>();
  fleet.connect(FAR, 1);
  fleet.takeChanges(NOW);
  const ranked = () => fleet.ranked("requirements", rankOf).map(({ nodes }) => nodes.profile.region);
  expect(ranked()).toEqual(["far"]);
  change(fleet);
  expect(ranked()).toEqual(regions);
});

function leave(fleet: NodeProfiles<unknown>, ms: number): void {
  fleet.connect(FAR, -1);
  fleet.takeChanges(NOW);
  fleet.takeChanges(NOW + ms);
}
