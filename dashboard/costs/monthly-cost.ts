// What a month of encoding costs here and by the minute elsewhere. Pure.
import { costOf, LIST_PRICES, type Prices, TIERS } from "../core/list-prices.ts";
import type { Ladder } from "./ladders.ts";

export type Workload = {
  /** Minutes of video, before they are encoded, in a month. */
  readonly minutes: number;
  /** Mean length of a video; each is one job. */
  readonly minutesPerVideo: number;
  readonly ladder: Omit<Ladder, "id" | "title" | "outputs">;
};

export type Machines = {
  /** US dollars for an hour of one machine. */
  readonly perHour: number;
  readonly cores: number;
  /** The part of the paid hours in which the machines encode, 0 to 1. */
  readonly busy: number;
};

/** `own`: a server that is there anyway. */
export type ControlPlane = "cloudflare" | "own";

export type MonthlyCost = {
  readonly jobs: number;
  /** Hours of machines that are paid for. */
  readonly machineHours: number;
  readonly machines: number;
  readonly controlPlane: number;
  /** Minutes of output, as services count them. */
  readonly outputMinutes: number;
  /** What a service that charges by the minute of output asks. */
  readonly elsewhere: number;
};

/** US dollars of Cloudflare's paid plan for a month. */
const PLAN = 5;
/** US dollars for a million further hours of encoding: docs/costs.md, `What one job costs`. */
const PER_MILLION_HOURS = 28.2;
/** A longer stream has more segments to sign. */
const STREAM_MINUTES = 10;

/**
 * US dollars for a month. Cloudflare's part is an upper limit: nothing is subtracted that the plan includes. Numbers
 * below zero or none count as the least that is possible.
 */
export function monthlyCost(
  { minutes, minutesPerVideo, ladder }: Workload,
  { perHour, cores, busy }: Machines,
  controlPlane: ControlPlane,
  prices: Prices = LIST_PRICES,
): MonthlyCost {
  const length = atLeast(0, minutes);
  const each = atLeast(0.01, minutesPerVideo);
  const jobs = Math.ceil(length / each);
  const perMillion = ladder.perMillion * (ladder.isStream ? Math.max(1, each / STREAM_MINUTES) : 1);
  const encodeHours = ((length / 60) * ladder.coreHours) / atLeast(1, cores);
  const machineHours = encodeHours / Math.min(1, atLeast(0.01, busy));
  const seconds = Object.fromEntries(TIERS.map((tier) => [tier, length * 60 * ladder.renditions[tier]]));
  const cloudflare = PLAN + (jobs * perMillion + encodeHours * PER_MILLION_HOURS) / 1e6;
  return {
    jobs,
    machineHours,
    machines: machineHours * atLeast(0, perHour),
    controlPlane: controlPlane === "cloudflare" ? cloudflare : 0,
    outputMinutes: length * TIERS.reduce((sum, tier) => sum + ladder.renditions[tier], 0),
    elsewhere: costOf(seconds as Record<keyof Prices, number>, prices),
  };
}

const atLeast = (least: number, value: number): number => (Number.isNaN(value) ? least : Math.max(least, value));
