/** Simulates a rollout without a server: the model writes the scripted replies, and the prompts that it read are recorded. */

import { hermes } from '#lib/parsers/json/hermes.ts'
import type { ToolParser } from '#lib/parsers/parser.ts'
import { endOfTurnId, firstPrompt, nextPrompt, type PromptEncoder } from '#lib/rollout/prompt/prompt.ts'
import {
  addTokens,
  closePrompt,
  closeResponse,
  openPrompt,
  openResponse,
  vocabularyWriter,
} from '#lib/rollout/record/record.ts'
import { chatTemplate } from '#lib/templates/chat-template.ts'
import type { ToolSpec } from '#lib/tools/tool-spec.ts'
import { applyEvent, type LiveTrajectory, type RolloutEvent } from '#lib/trajectory/events/events.ts'
import { type Finish, FORMAT, type Message, type Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { ids } from '#lib/trajectory/tokens/tokens.ts'
import { byteTokenizer } from './byte-tokenizer.ts'

/** A turn of the simulated conversation. */
export interface SimulatedTurn {
  /** New messages: a question, or the results of the previous calls. */
  readonly messages: readonly Message[]
  readonly reply: readonly number[]
  readonly finish: Finish
}

/** Results of a simulated rollout. */
export interface SimulatedRollout {
  readonly trajectory: Trajectory
  readonly events: readonly RolloutEvent[]
  /** `input_ids` of each call, in order. */
  readonly requests: readonly (readonly number[])[]
}

interface PlaySettings {
  readonly tools?: readonly ToolSpec[]
  /** Options of the chat template. */
  readonly options?: Readonly<Record<string, unknown>>
  readonly parser?: ToolParser
}

/** Runs the turns. A template as text uses the byte tokenizer; a `PromptEncoder` has a tokenizer of its own. */
export function simulateRollout(
  template: string | PromptEncoder,
  turns: readonly SimulatedTurn[],
  { tools = [], options = {}, parser = hermes }: PlaySettings = {},
): SimulatedRollout {
  const promptEncoder: PromptEncoder =
    typeof template === 'string' ? { tokenizer: byteTokenizer, template: chatTemplate(template, {}) } : template
  const { tokenizer } = promptEncoder
  const events: RolloutEvent[] = []
  const requests: number[][] = []
  let state: LiveTrajectory | undefined
  const apply = (event: RolloutEvent): LiveTrajectory => {
    events.push(event)
    state = applyEvent(state, event)
    return state
  }
  let trajectory = apply({
    type: 'started',
    rolloutId: 'r',
    trajectory: emptyTrajectory(promptEncoder, { tools, options, parser: parser.name }),
  })
  const newVocabulary = vocabularyWriter(trajectory, tokenizer)
  for (const { messages, reply, finish } of turns) {
    const isFirst = trajectory.segments.length === 0
    const prompt = isFirst
      ? firstPrompt(messages, { tools, options }, promptEncoder)
      : nextPrompt(trajectory, messages, promptEncoder)
    requests.push([...ids(trajectory), ...prompt.ids])
    apply(openPrompt(messages, prompt, newVocabulary))
    trajectory = apply(closePrompt({ logprobs: prompt.ids.map(simulatedLogprob) }, prompt.problems, newVocabulary))
    trajectory = apply(
      openResponse({ server: 'scripted', samplingParams: {}, inputLength: 0, inputHash: '', streamed: true }),
    )
    for (const id of reply)
      trajectory = apply(addTokens({ ids: [id], logprobs: [simulatedLogprob(id)] }, newVocabulary))
    trajectory = apply(closeResponse(trajectory, { finish, problems: [] }, parser, tokenizer))
  }
  const { live: _, ...done } = apply({ type: 'ended', outcome: { kind: 'ended', reason: 'end_turn' } })
  return { trajectory: done, events, requests }
}

/** Returns a logprob from which the token can be recognised. */
export const simulatedLogprob = (id: number): number => -(id + 1) / 1000

/** Returns the trajectory with which a run begins. */
export function emptyTrajectory(
  promptEncoder: PromptEncoder,
  { tools, options, parser }: Required<Omit<PlaySettings, 'parser'>> & { readonly parser: string },
): Trajectory {
  const endOfTurn = endOfTurnId(promptEncoder, options)
  return {
    format: FORMAT,
    id: 't',
    createdAt: '2026-01-01T00:00:00.000Z',
    model: {
      tokenizer: {
        name: promptEncoder.tokenizer.name,
        vocabularySize: promptEncoder.tokenizer.vocabularySize,
        specialIds: [],
        ...(endOfTurn !== undefined && { endOfTurnId: endOfTurn }),
      },
      template: { text: promptEncoder.template.text, options },
      tools,
      parser,
    },
    vocab: {},
    segments: [],
    outcome: { kind: 'running' },
    provenance: { kind: 'rollout', application: 'test' },
  }
}
