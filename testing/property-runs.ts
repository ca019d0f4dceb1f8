/** Number of cases of a property without an own number: 100 in CI, which measures coverage, and 50 elsewhere, where people wait. */
export const DEFAULT_RUNS = process.env.CI ? 100 : 50

/** Returns the number of cases for a property that needs `usual` where others have 100; PROPERTY_RUNS scales it. */
export const runs = (usual: number): number =>
  Math.ceil((usual * Number(process.env.PROPERTY_RUNS ?? DEFAULT_RUNS)) / 100)
