// The script of the guide on costs.
import { showCalculator } from "./calculator.ts";

const root = document.getElementById("calculator");
if (root !== null) showCalculator(root);
