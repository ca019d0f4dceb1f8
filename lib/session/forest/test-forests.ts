/** Short spellings of messages and nodes for the tests of this folder. */
import type { Message } from '#lib/trajectory/format/trajectory.ts'
import { ALL_RULES, type EqualityRules } from './equality.ts'
import {
  type Attachment,
  type ForestCall,
  type NodeOutcome,
  openForest,
  type PromptContext,
  type SessionForest,
  type SessionNode,
} from './forest.ts'

export type Reply = Extract<Message, { role: 'assistant' }>

export const CONTEXT: PromptContext = { tools: 'tools', template: 'template' }

/** Returns messages from words: `s:` a system prompt, `u:` a user, `a:` a reply, `t:` a tool result. */
export const history = (words: string): readonly Message[] =>
  words
    .split(' ')
    .filter((word) => word !== '')
    .map((word): Message => {
      const text = word.slice(2)
      switch (word.slice(0, 2)) {
        case 's:':
          return { role: 'system', content: text }
        case 'u:':
          return { role: 'user', content: text }
        case 't:':
          return { role: 'tool', callId: text, content: text }
        default:
          return { role: 'assistant', content: text }
      }
    })

export const reply = (content: string): Reply => ({ role: 'assistant', content })

/** Returns the place of a call that a forest accepts. */
export function attached(forest: SessionForest, call: ForestCall): Attachment {
  const result = forest.attach(call)
  if (!result.ok) throw new Error(result.why)
  return result.attachment
}

/** A forest that is written as its calls, one after the other. */
export interface WrittenForest {
  readonly forest: SessionForest
  /** Adds a call with these words and returns its first node. `answer`: the reply, or why there is none. */
  readonly add: (words: string, answer: string, options?: AddOptions) => SessionNode
  /** Returns the place of a call with these words. */
  readonly place: (words: string, context?: PromptContext) => Attachment
}

interface AddOptions {
  readonly context?: PromptContext
  readonly status?: NodeOutcome['status']
  readonly choices?: readonly string[]
}

/** Opens a forest in which each message and each reply has one token. */
export function writtenForest(rules: EqualityRules = ALL_RULES): WrittenForest {
  const forest = openForest(rules)
  const add: WrittenForest['add'] = (words, answer, { context = CONTEXT, status = 'complete', choices = [] } = {}) => {
    const attachment = attached(forest, { messages: history(words), context })
    const [node] = forest.append(
      attachment,
      [answer, ...choices].map((text) => outcome(attachment, status === 'failed' ? undefined : reply(text), status)),
    )
    return node as SessionNode
  }
  return { forest, add, place: (words, context = CONTEXT) => attached(forest, { messages: history(words), context }) }
}

/** Returns an outcome with one token for each message and for the reply. */
export const outcome = (
  { kept, messages }: Attachment,
  answer: Reply | undefined,
  status: NodeOutcome['status'] = 'complete',
): NodeOutcome => ({
  status,
  ...(answer && { reply: answer, finish: { kind: 'stop' } }),
  tokens: { start: kept, prompt: messages.length, reply: answer ? 1 : 0 },
})
