import { describe, expect, test } from 'vitest'
import { firstPrompt } from '#lib/rollout/prompt/prompt.ts'
import { chatTemplate } from '#lib/templates/chat-template.ts'
import { FORMAT, type Message, type PromptSegment, type ResponseSegment } from '#lib/trajectory/format/trajectory.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { byteId, byteTokenizer, byteVocab } from '#testing/byte-tokenizer.ts'
import { chatml, looksBack } from '#testing/small-templates.ts'
import { savingsOf } from './chat-pipeline.ts'

const bytes = byteTokenizer.encode

/** Returns the prompts of a chat pipeline with a template. */
const promptsOf = (template: string, histories: readonly (readonly Message[])[]): readonly (readonly number[])[] =>
  histories.map(
    (messages) =>
      firstPrompt(
        messages,
        { tools: [], options: {} },
        { tokenizer: byteTokenizer, template: chatTemplate(template, {}) },
      ).ids,
  )

const thinksOf = (text: string) => {
  const end = text.indexOf('</think>')
  return end < 0 ? [] : [{ start: 0, end: bytes(text.slice(0, end)).length + 1, closed: true }]
}

/** Returns a path that was recorded token by token: prompts and replies in turn. */
function path(...texts: readonly string[]): TrajectoryView {
  const segments = texts.map((text, index): PromptSegment | ResponseSegment =>
    index % 2 === 0
      ? { kind: 'prompt', ids: bytes(text), messages: [] }
      : { kind: 'response', ids: bytes(text), thinks: thinksOf(text), toolCalls: [] },
  )
  return {
    format: FORMAT,
    id: 'path',
    createdAt: '2026-01-01T00:00:00.000Z',
    model: {
      tokenizer: { name: 'bytes', specialIds: [], endOfTurnId: byteId('<|im_end|>') },
      tools: [],
    },
    vocab: byteVocab(),
    segments,
    outcome: { kind: 'ended', reason: 'end_turn' },
    provenance: { kind: 'rollout', application: 'test' },
  }
}

const user = (content: string): Message => ({ role: 'user', content })
const assistant = (content: string): Message => ({ role: 'assistant', content })

const QUESTION = '<|im_start|>user\nq<|im_end|>\n<|im_start|>assistant\n'
const MORE = '\n<|im_start|>user\nmore<|im_end|>\n<|im_start|>assistant\n'
const THOUGHT = '<think>hm</think>a'
const recorded = path(QUESTION, `${THOUGHT}<|im_end|>`, MORE, 'b<|im_end|>')
const histories = [[user('q')], [user('q'), assistant(THOUGHT), user('more')]]

describe('The savings of a path', () => {
  test('are what a template that drops earlier thinking would have changed', () => {
    const savings = savingsOf(recorded, promptsOf(looksBack, histories))
    const lost = bytes(`${THOUGHT}<|im_end|>`).length
    expect(savings).toMatchObject({ drifts: 1, trainedTokens: bytes('<think>hm</think>').length, rows: 1 })
    expect(savings.cachedTokens).toBe(lost)
    expect(savings.report?.spans).toMatchObject([{ kind: 'think-stripped', severity: 'trained' }])
    expect(savings.report?.rows.realigned).toBe(lost)
  })

  test('are nothing if the template keeps what the model wrote', () => {
    const savings = savingsOf(recorded, promptsOf(chatml, histories))
    expect(savings).toMatchObject({ drifts: 0, trainedTokens: 0, cachedTokens: 0, rows: 1 })
    expect(savings.report?.spans).toEqual([])
  })

  test('count training rows where the client changed a message that the path keeps', () => {
    const edited = [[user('q')], [user('other'), assistant(THOUGHT), user('more')]]
    expect(savingsOf(recorded, promptsOf(chatml, edited))).toMatchObject({ drifts: 1, rows: 2 })
  })

  test('are the same with requests that are recorded', () => {
    const [prompt, response, ...others] = recorded.segments as [PromptSegment, ResponseSegment]
    const request = { server: 's', samplingParams: {}, inputLength: 0, inputHash: '', streamed: false }
    const requested = { ...recorded, segments: [prompt, { ...response, request }, ...others] }
    const prompts = promptsOf(looksBack, histories)
    expect(savingsOf(requested, prompts)).toEqual(savingsOf(recorded, prompts))
  })

  test('cover the calls that have a prompt', () => {
    const [first = []] = promptsOf(looksBack, histories)
    expect(savingsOf(recorded, [first])).toMatchObject({ drifts: 0, trainedTokens: 0, cachedTokens: 0, rows: 1 })
    expect(savingsOf(recorded, [])).toEqual({ drifts: 0, trainedTokens: 0, cachedTokens: 0, rows: 1 })
  })
})

test('A path without a reply has no savings', () => {
  expect(() => savingsOf(path(QUESTION), promptsOf(chatml, [[user('q')]]))).toThrow('not run over a chat')
})
