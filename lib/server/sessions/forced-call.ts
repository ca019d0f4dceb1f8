/** Forces the model to call a tool: the server generates within a grammar of the format that the session's parser reads. */
import { toEbnf, toRegex } from '#lib/parsers/grammar/expression.ts'
import { forcedCalls } from '#lib/parsers/grammar/forced-calls.ts'
import { thinkBlocks, thinkDelimitersIn } from '#lib/parsers/thinking.ts'
import { THINK_FORMS } from '#lib/parsers/thinking-forms.ts'
import { computeSettled, type PromptEncoder } from '#lib/rollout/prompt/prompt.ts'
import type { SamplingRequest } from '#lib/sampling/values.ts'
import type { SessionCall } from '#lib/session/call.ts'
import { CallRefusal } from '#lib/session/protocols/refusal.ts'
import type { Services } from '../services.ts'
import type { Prepared } from './tito.ts'

/** Levels of values without a schema, or with a reference to themselves, that the built-in server writes. */
const LEVELS = 2

/** Returns whether the model must call a tool. */
export const isForced = ({ toolChoice }: Pick<SessionCall, 'toolChoice'>): boolean =>
  toolChoice === 'required' || typeof toolChoice === 'object'

/**
 * Returns the grammar that forces the call; nothing for a call that is not forced. Throws CallRefusal if the format or the server has no such
 * grammar.
 */
export async function forcedSampling(
  call: SessionCall,
  { serving: { parser, server, serverName }, promptEncoder, start }: Prepared,
  all: Services,
  signal: AbortSignal,
): Promise<Pick<SamplingRequest, 'ebnf' | 'regex'>> {
  const { toolChoice, tools } = call
  if (!isForced(call)) return {}
  if (server.capabilities?.engine === 'openai')
    throw refusal('the server has no grammars. Use tool_choice "auto", or the mode observe')
  try {
    const grammar = forcedCalls(parser.name, {
      tools: typeof toolChoice === 'object' ? tools.filter(({ name }) => name === toolChoice.name) : tools,
      mayRepeat: toolChoice === 'required' && call.parallelToolCalls,
      template: promptEncoder.template.text,
      closeThink: await closeOfThink(promptEncoder, start.model.template?.options ?? {}, signal),
    })
    if (!grammar)
      throw refusal(
        `the calls of the parser ${parser.name} have no grammar. Use tool_choice "auto", or the mode observe`,
      )
    // The built-in server has no recursive grammars.
    return isBuiltIn(serverName, all) ? { regex: toRegex(grammar, LEVELS) } : { ebnf: toEbnf(grammar) }
  } catch (error) {
    throw error instanceof RangeError ? refusal(error.message) : error
  }
}

const refusal = (why: string) => new CallRefusal('tool_choice', `tool_choice cannot force a call here: ${why}.`)

const isBuiltIn = (name: string, { servers }: Services): boolean =>
  servers.list().some((server) => server.name === name && server.source === 'built-in')

/** Returns the text that closes the think block in which every prompt of a template ends; undefined if it ends in none. */
async function closeOfThink(
  promptEncoder: PromptEncoder,
  options: SessionCall['templateArguments'],
  signal: AbortSignal,
): Promise<string | undefined> {
  const text = await computeSettled(
    promptEncoder,
    () =>
      promptEncoder.template.render({
        messages: [{ role: 'user', content: 'Hi' }],
        tools: undefined,
        addGenerationPrompt: true,
        options,
      }),
    signal,
  )
  const last = thinkBlocks(text, thinkDelimitersIn(text), false, NO_CALLS).at(-1)
  if (!last || last.closed) return undefined
  const form = THINK_FORMS.find(({ marks }) => marks.some((mark) => text.startsWith(mark, last.start)))
  return form?.ends?.[0]
}

const NO_CALLS = { open: '', close: '' } as const
