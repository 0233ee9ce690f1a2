import { simulationTest } from "./testing/simulation/simulation-test.ts";

simulationTest(0);
