import { expect, it } from "vitest";
import { PacketClock, type TimedPacket } from "./packet-clock.ts";

const video = (dts: number | null, pts = dts): TimedPacket => ({ stream: 0, pts, dts, duration: 0.04 });
const audio = (dts: number | null, pts = dts): TimedPacket => ({ stream: 1, pts, dts, duration: 0.02 });

/** The times at which ffmpeg presents the packets, in ms. */
function presented(packets: readonly TimedPacket[], mayRestart = true): (number | null)[] {
  const clock = new PacketClock(mayRestart);
  return packets.map((packet) => {
    const at = clock.presented(packet);
    return at === null ? null : Math.round(at * 1000);
  });
}

it.each<[string, TimedPacket[], number[]]>([
  ["restarts", [video(1.4), video(1.54), video(1.4), video(1.44)], [1400, 1540, 1580, 1620]],
  ["restarts twice", [video(5), video(0), video(0.2), video(0)], [5000, 5040, 5240, 5280]],
  ["jumps by an hour", [video(10), video(3610), video(3610.04)], [10_000, 10_040, 10_080]],
  ["jumps back by an hour", [video(3610), video(10), video(10.04)], [3_610_000, 3_610_040, 3_610_080]],
  ["moves all streams", [video(1), audio(1), video(0), audio(0)], [1000, 1000, 1040, 1040]],
  ["keeps reordered frames", [video(1, 1.08), video(0, 0.08), video(0.04, 0.2)], [1080, 1120, 1240]],
])("follows a clock that %s", (_, packets, times) => {
  expect(presented(packets)).toEqual(times);
});

it("keeps gaps up to ten seconds, and small steps backward", () => {
  const packets = [video(1), video(10), video(9.95), video(19)];
  expect(presented(packets)).toEqual([1000, 10_000, 9950, 19_000]);
});

it("joins a stream to the others when its first packet is more than ten seconds away", () => {
  expect(presented([video(1), audio(90), audio(90.02)])).toEqual([1000, 1000, 1020]);
});

it("keeps all gaps where formats allow no restart, and ignores times that are 30 hours away", () => {
  expect(presented([video(1), video(3601), video(2)], false)).toEqual([1000, 3_601_000, 2000]);
  expect(presented([video(1), video(400_000), video(1.08)], false)).toEqual([1000, 1040, 1080]);
});

it("expects packets without timestamps after their predecessors", () => {
  expect(presented([video(null), video(1), video(null), video(null)])).toEqual([null, 1000, 1040, 1080]);
});
