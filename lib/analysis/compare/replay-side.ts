/**
 * Replays the calls of a side as its pipeline makes them: the prompt of each call is built again from what was there before it. The
 * replies are the recorded ones, even if the pipeline changes them in later prompts.
 */

import { growingEncoder } from '#lib/rollout/prompt/growing-encoder.ts'
import { withoutFirstSpace } from '#lib/rollout/record/retokenize.ts'
import { orTemplateFailure } from '#lib/templates/document/input.ts'
import { conversationTokens } from '#lib/templates/loss-mask/conversation.ts'
import type { ReplayedCalls } from '#lib/trajectory/drift/compare.ts'
import { startReplay } from '#lib/trajectory/drift/replay.ts'
import { promptOf } from '#lib/trajectory/messages/read-prompt.ts'
import { textOf, textOfFirst } from '#lib/trajectory/tokens/pieces.ts'
import { ids, segmentStarts, segmentsOf } from '#lib/trajectory/tokens/tokens.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { isSameTokenizer } from '../retokenize/caveats.ts'
import { type MessageReconstruction, recordedMessages } from '../retokenize/messages-side.ts'
import { wholeVocab } from '../retokenize/remade.ts'
import { turnsRead } from './read-side.ts'
import type { LoadedSide, SideTokenizer } from './shown-side.ts'

/** Costs of the replayed calls, as in `Replayed`. */
export interface SideReplay extends Omit<ReplayedCalls, 'side'> {
  /** What could not be replayed, in sentences for a person. */
  readonly caveats: readonly string[]
}

/** Replays the calls of a side. Yields before each call. Returns undefined if the side is recorded or cannot be built. */
export function* replaySide(loaded: LoadedSide): Generator<'calls', SideReplay | undefined> {
  const { as, tokenizer } = loaded
  switch (as.kind) {
    case 'recorded':
      return undefined
    case 'read':
      return yield* readCalls(loaded)
    case 'text':
      return tokenizer && (yield* encodedCalls(loaded, tokenizer))
    default:
      return tokenizer && (yield* renderedCalls(loaded, as, tokenizer))
  }
}

function* renderedCalls(
  given: LoadedSide,
  as: MessageReconstruction,
  side: SideTokenizer,
): Generator<'calls', SideReplay | undefined> {
  const { tokenizer } = side
  const found = recordedMessages(given, as, side)
  if (!found.ok) return undefined
  const { readable, parts, chosen, input } = found.value
  const hasOwnIds = isSameTokenizer(given.trajectory, tokenizer)
  const replay = startReplay()
  const encode = growingEncoder(tokenizer)
  let line: number | undefined
  let messages = 0
  const result = (caveats: readonly string[]): SideReplay => ({ ...replay.costs(), by: 'rendered', line, caveats })
  for (const part of parts) {
    if (part.kind === 'context') {
      messages += part.messages.length
      continue
    }
    yield 'calls'
    const before = { ...input, messages: input.messages.slice(0, messages), addGenerationPrompt: true }
    const prompt = orTemplateFailure(() => encode(chosen.template.render(before)))
    if (!prompt.ok) {
      const { className, message } = prompt.error
      const { length } = replay.costs().calls
      return result([
        `The chat template refuses the prompt of call ${length + 1} (${className}: ${message}): prefix cache and training rows cover only the calls before it.`,
      ])
    }
    const sampled = hasOwnIds ? part.ids : tokenizer.encode(textOf(part.ids, readable.vocab))
    const { cached } = replay.add({ prompt: prompt.value, sampled })
    if (line === undefined && cached && cached.kept < cached.of) {
      const traced = conversationTokens(before, chosen.template, tokenizer)
      if (traced.ok) line = traced.value.lines[Math.min(cached.kept, prompt.value.length - 1)]
    }
    messages++
  }
  return result([])
}

/** Replays a pipeline that keeps one text and encodes all of it before each call. */
function* encodedCalls({ trajectory }: LoadedSide, { tokenizer }: SideTokenizer): Generator<'calls', SideReplay> {
  const segments = segmentsOf(trajectory)
  const vocab = wholeVocab(trajectory.vocab, segments, tokenizer)
  const hasOwnIds = isSameTokenizer(trajectory, tokenizer)
  const starts = segmentStarts(trajectory)
  const textBefore = textOfFirst(ids(trajectory), vocab)
  const encode = growingEncoder(tokenizer)
  const replay = startReplay()
  for (const [index, segment] of segments.entries()) {
    if (segment.kind !== 'response') continue
    yield 'calls'
    replay.add({
      prompt: encode(withoutFirstSpace(textBefore(elementAt(starts, index)), tokenizer)),
      sampled: hasOwnIds ? segment.ids : tokenizer.encode(withoutFirstSpace(textOf(segment.ids, vocab), tokenizer)),
    })
  }
  return { ...replay.costs(), by: 'encoded', line: undefined, caveats: [] }
}

/** Replays the prompts that the server reported; nothing is encoded. */
function* readCalls({ trajectory }: LoadedSide): Generator<'calls', SideReplay> {
  const segments = segmentsOf(trajectory)
  const all = ids(trajectory)
  const replay = startReplay()
  for (const { segmentIndex, before } of turnsRead(trajectory)) {
    yield 'calls'
    const segment = segments[segmentIndex]
    if (segment) replay.add({ prompt: promptOf(all, segment, before), sampled: segment.ids })
  }
  return { ...replay.costs(), by: 'read', line: undefined, caveats: [] }
}
