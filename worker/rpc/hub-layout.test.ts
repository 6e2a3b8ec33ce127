import { describe, expect, it } from "vitest";
import { type HubBinding, hubForNode, hubNames, hubsFor } from "./hub.ts";
import { groupsOf, locationOf, namesOf, parseHubLayout, rendezvous } from "./hub-layout.ts";

const LAYOUT = parseHubLayout("default@weur*2, default@enam, gpu*3");
const env = (text?: string) => ({ HUBS: text }) as unknown as HubBinding;
const [PARIS, BOSTON] = [
  { latitude: 49, longitude: 2 },
  { latitude: 42, longitude: -71 },
];

describe("the layout of hubs", () => {
  it("names each hub by its pool and region, and keeps the names of a service without a layout", () => {
    expect(groupsOf(LAYOUT, "default").flatMap(namesOf)).toEqual([
      "hub:default:weur:0",
      "hub:default:weur:1",
      "hub:default:enam:0",
    ]);
    expect(groupsOf(LAYOUT, "gpu").flatMap(namesOf)).toEqual(["hub:gpu:0", "hub:gpu:1", "hub:gpu:2"]);
    expect(groupsOf(LAYOUT, "other").flatMap(namesOf)).toEqual(["hub:other:0"]);
    expect(groupsOf(parseHubLayout(""), "default").flatMap(namesOf)).toEqual(["hub:default:0"]);
    expect(["hub:default:weur:1", "hub:gpu:0"].map(locationOf)).toEqual(["weur", null]);
  });

  it.each(["default@mars", "Default", "default*0", "default*65", "a@weur,a@weur*2", "a b"])(
    "is rejected with the allowed form: %s",
    (text) => {
      expect(() => parseHubLayout(text)).toThrow(/HUBS must be a list such as/);
    },
  );

  it("sends a node to the nearest region of its pool", () => {
    const hubs = env("default@weur*2,default@enam");
    expect(hubForNode(hubs, "default", "a", PARIS)).toMatch(/^hub:default:weur:/);
    expect(hubForNode(hubs, "default", "a", BOSTON)).toBe("hub:default:enam:0");
    expect(hubNames(hubs, "default", BOSTON)[0]).toBe("hub:default:enam:0");
  });

  it("spreads the jobs over the hubs of all regions", () => {
    const hubs = env("default@weur*4,default@enam*3,default@oc");
    const first = Array.from({ length: 800 }, (_, at) => hubsFor(hubs, "default", `job-${at}`)[0] ?? "");
    const counts = Object.values(Object.groupBy(first, (name) => name)).map((own) => own?.length ?? 0);
    expect(counts).toHaveLength(8);
    expect(Math.min(...counts)).toBeGreaterThan(60);
    expect(hubsFor(hubs, "default", "job").toSorted()).toEqual(hubNames(hubs, "default").toSorted());
    expect(hubsFor(env(), "default", "job")).toEqual(["hub:default:0"]);
  });
});

describe("rendezvous hashing", () => {
  const keys = Array.from({ length: 10_000 }, (_, number) => `node-${number}`);
  const names = (count: number) => namesOf({ pool: "default", location: null, count });

  it("spreads nodes evenly: no hub has 10 % more than its share", () => {
    const counts = Object.groupBy(keys, (key) => rendezvous(names(7), key)[0] ?? "");
    for (const own of Object.values(counts)) expect(own?.length).toBeLessThan((10_000 / 7) * 1.1);
  });

  it("moves only the nodes of the hub that is added", () => {
    const moved = keys.filter((key) => rendezvous(names(7), key)[0] !== rendezvous(names(8), key)[0]);
    expect(moved.every((key) => rendezvous(names(8), key)[0] === "hub:default:7")).toBe(true);
    expect(moved.length).toBeGreaterThan(1000);
    expect(moved.length).toBeLessThan(1500);
  });
});
