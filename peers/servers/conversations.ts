/**
 * A conversation that runs on every server. Together they have parallel calls, further turns, a tool error, and thinking
 * turned off.
 */
export interface Conversation {
  readonly prompts: readonly string[]
  readonly thinking: boolean
}

/** All conversations. */
export const conversations: readonly Conversation[] = [
  { prompts: ['What is 25 * 17, and then plus 9?'], thinking: true },
  { prompts: ['What is 12 * 31 and what is 144 / 16?', 'Now add 9.'], thinking: true },
  { prompts: ['What is 84 / 0?'], thinking: true },
  { prompts: ['What is 7 + 8?', 'And times 3?'], thinking: false },
  { prompts: ['Compute 12 * 7 and 81 / 9'], thinking: false },
  { prompts: ['Hello!', 'What is 2 ** 10?', 'Thank you.'], thinking: true },
]
