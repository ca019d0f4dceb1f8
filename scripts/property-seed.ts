/**
 * Every property is tried with the same cases at each run of the unit tests, so that a change alone decides whether they pass.
 * `npm run test:properties` looks further: other cases each time, and as many as PROPERTY_RUNS says.
 */
import fc from 'fast-check'
import { DEFAULT_RUNS } from '#testing/property-runs.ts'

const runs = process.env.PROPERTY_RUNS
fc.configureGlobal(runs ? { numRuns: Number(runs) } : { seed: 1, numRuns: DEFAULT_RUNS })
