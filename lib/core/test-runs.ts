/** How many cases a property is tried with that usually has `usual`: with PROPERTY_RUNS as many times more as others have. */
export const runs = (usual: number): number => Math.ceil((usual * Number(process.env.PROPERTY_RUNS ?? 100)) / 100)
