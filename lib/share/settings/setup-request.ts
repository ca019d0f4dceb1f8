/** Converts the values of the playground's form to the request that they describe. */

import type { RunOpening, RunSettings } from '#lib/api/run-request.ts'
import { objectOf } from '#lib/json/json-object.ts'
import { parseSamplingTexts } from '#lib/sampling/sampling-form.ts'
import type { RewardRule } from '#lib/trajectory/reward/rule.ts'
import { countText } from '#lib/util/text/count-with-noun.ts'
import { rewardRuleOf } from './reward-draft.ts'
import { type NumberRange, RANGES, type Setup } from './setup.ts'

/** Error messages by the name of the field. */
export type FieldErrors = Readonly<Record<string, string>>

/** The request that a setup describes, or the errors of its fields. */
export type RequestOfSetup =
  | {
      readonly ok: true
      readonly settings: RunSettings
      readonly opening: RunOpening
      /** Number of samples, from 1. Several samples are a group. */
      readonly samples: number
      /** Names of all servers that run side by side. Omitted: the server of `settings` runs alone. */
      readonly servers?: readonly string[]
      /** Reward rule. Omitted: none. */
      readonly reward?: RewardRule
    }
  | { readonly ok: false; readonly errors: FieldErrors }

/**
 * Returns the request of a setup. `settings` are sent with every turn; `opening`, `samples`, `servers` and `reward` only with the first
 * one.
 */
export function requestOf(setup: Setup): RequestOfSetup {
  const errors: Record<string, string> = {}
  const number = (field: keyof typeof RANGES, text: string): number | undefined => {
    if (text.trim() === '') return undefined
    const problem = numberProblem(text, RANGES[field])
    if (problem) errors[field] = problem
    return Number(text)
  }
  const numbers = <T extends keyof typeof RANGES>(fields: Readonly<Record<T, string>>, names: readonly T[]) =>
    Object.fromEntries(
      names.flatMap((name) => {
        const value = number(name, fields[name])
        return value === undefined ? [] : [[name, value]]
      }),
    )
  const { sampling, errors: samplingErrors } = parseSamplingTexts(setup.sampling)
  Object.assign(errors, samplingErrors)
  const limits = numbers(setup.limits, [
    'maxToolIterations',
    'maxToolCalls',
    'maxParallelToolCalls',
    'maxMessages',
    'maxTokens',
    'contextWindow',
    'toolTimeoutMs',
    'maxResultCharacters',
  ])
  const topLogprobs = number('topLogprobs', setup.topLogprobs)
  const samples = number('samples', setup.samples) ?? 1
  const reward = rewardRuleOf(setup.reward)
  if (typeof reward === 'string') errors.reward = reward
  const servers = [...new Set([setup.server, ...setup.furtherServers])]
  if (servers.length > 1 && servers.includes(''))
    errors.furtherServers = 'need a server that is chosen by name, not the default one'
  const options = objectOf(setup.templateOptions)
  if (options === undefined) errors.templateOptions = 'must be a JSON object, for example {"date_string": "1 Jan 2026"}'
  if (Object.keys(errors).length > 0 || typeof reward === 'string') return { ok: false, errors }
  return {
    ok: true,
    samples,
    ...(servers.length > 1 && { servers }),
    ...(reward && { reward }),
    settings: {
      sampling,
      limits,
      ...(topLogprobs !== undefined && { topLogprobs }),
      promptLogprobs: setup.promptLogprobs,
      stream: setup.stream,
      ...(setup.routedExperts && setup.endpoint === 'generate' && { routedExperts: true }),
      ...(setup.adapter.trim() !== '' && { adapter: setup.adapter.trim() }),
      ...(setup.server !== '' && { server: setup.server }),
    },
    opening: {
      ...(setup.system.trim() !== '' && { system: setup.system }),
      tools: setup.tools.map(
        (name) => [...setup.mockTools, ...setup.mcpTools].find((tool) => tool.name === name) ?? name,
      ),
      ...(setup.parser !== '' && { parser: setup.parser }),
      ...(setup.tokenizer.trim() !== '' && { tokenizer: setup.tokenizer.trim() }),
      // For a chat endpoint the server renders with its own template.
      ...(setup.endpoint === 'chat'
        ? { endpoint: 'chat' }
        : setup.chatTemplate.trim() !== '' && { chatTemplate: setup.chatTemplate }),
      // The option is sent only when it is off. Templates think by default, and some do not know the option.
      templateOptions: { ...(setup.thinking ? {} : { enable_thinking: false }), ...options },
    },
  }
}

function numberProblem(text: string, { minimum, maximum, isWhole }: NumberRange): string | undefined {
  const value = Number(text)
  if (!Number.isFinite(value)) return 'must be a number'
  if (isWhole && !Number.isInteger(value)) return 'must be a whole number'
  if (value < minimum || value > maximum) return `must be from ${minimum} to ${countText(maximum)}`
  return undefined
}
