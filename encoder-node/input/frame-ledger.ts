// Reads when each frame of a film is shown, without decoding it.
import { spawn } from "node:child_process";
import * as z from "zod";
import { AppError } from "#shared/errors.ts";
import { messageOf } from "#shared/log.ts";
import { ALLOWED_DEMUXERS } from "#shared/plan/demuxers.ts";
import type { Tool } from "../ffmpeg/locate.ts";
import { toolEnvironment } from "../ffmpeg/tool-environment.ts";
import { judgePackets, type LedgerReading, type Sample, type TrackHead } from "./frame-ledger-checks.ts";
import { PACKET_ENTRIES, packetReader } from "./frame-ledger-packets.ts";
import { RANGE_INPUT_OPTIONS, type RangeInput } from "./range-proxy.ts";
