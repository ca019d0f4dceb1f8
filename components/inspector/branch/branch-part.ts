import { lazyPart } from '#components/shell/lazy-part.tsx'

/** The branches of a selected token, whose code is loaded when it is first shown. */
export const BranchPart = lazyPart(async () => (await import('./branch-panel.tsx')).BranchPanel)
