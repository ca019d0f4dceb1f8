/** Trajectories that come with the application: real runs of the built-in model, in public/examples. */
export const EXAMPLES: readonly { readonly name: string; readonly title: string; readonly note: string }[] = []
