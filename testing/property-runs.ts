/** How many cases a property is tried with that says nothing of it: twice as many where lines are counted and nobody waits. */
export const DEFAULT_RUNS = process.env.CI ? 100 : 50

/** How many cases a property is tried with that needs `usual` where others have 100: with PROPERTY_RUNS as many times more. */
export const runs = (usual: number): number =>
  Math.ceil((usual * Number(process.env.PROPERTY_RUNS ?? DEFAULT_RUNS)) / 100)
