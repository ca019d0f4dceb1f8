/**
 * Gives every property the same cases in each run of the unit tests, so that only a change decides whether they pass. `npm
 * run test:properties` uses new cases each time, as many as PROPERTY_RUNS.
 */
import fc from 'fast-check'
import { DEFAULT_RUNS } from '#testing/property-runs.ts'

const runs = process.env.PROPERTY_RUNS
fc.configureGlobal(runs ? { numRuns: Number(runs) } : { seed: 1, numRuns: DEFAULT_RUNS })
