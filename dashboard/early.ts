// Runs before the dashboard's other scripts have arrived, in its own file.
import { requestEarly } from "./core/early-list.ts";

requestEarly();
