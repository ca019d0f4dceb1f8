/** Names of content that an imported file may lack. */
export const MISSING_CONTENTS = [
  'ids',
  'texts',
  'messages',
  'logprobs',
  'mask',
  'special_tokens',
  'logprob_values',
  'temperature',
] as const

/** The name of content that an imported file lacked. */
export type MissingContent = (typeof MISSING_CONTENTS)[number]
