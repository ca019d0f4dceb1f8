/** Kinds of forks: how a trajectory differs from the one that it was forked from. */
export const forkKinds = [
  'sampled_again',
  'alternative',
  'forced',
  'tool_result',
  'message',
  'settings',
  'continued',
  'cut',
  'rendered_again',
] as const
