// Runs before the dashboard's other scripts have arrived, in a file of its own.
import { requestEarly } from "./core/early-list.ts";

requestEarly();
