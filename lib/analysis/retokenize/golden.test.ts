/** Compares reconstructed sides with Python: golden/make.py encodes the texts and messages of the same runs with transformers. */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { hermes } from '#lib/parsers/json/hermes.ts'
import { argumentsSource } from '#lib/parsers/reading/written-arguments.ts'
import { endOfTurnId } from '#lib/rollout/prompt/prompt.ts'
import { replyTexts, writtenReply } from '#lib/rollout/prompt/written-reply.ts'
import { withTokenizer } from '#lib/rollout/record/with-tokenizer.ts'
import type { LoadedTokenizer } from '#lib/tokenizer/files/tokenizer-files.ts'
import { FORMAT, type Message, type Segment, type Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { ids as allIds } from '#lib/trajectory/tokens/tokens.ts'
import { commonIds } from '#lib/util/common-prefix.ts'
import { loadedTokenizer, tokenizerFolder } from '#testing/tokenizers.ts'
import { buildSide } from '../compare/retokenized.ts'
import type { Reconstruction } from '../compare/side.ts'
import { encodeMessages } from './encode-messages.ts'

/** Number of equal leading ids, the ids that replace others, and the number of equal trailing ids. */
type Differing = readonly [head: number, ids: readonly number[], tail: number]

interface Golden {
  readonly conversations: Readonly<
    Record<
      string,
      {
        readonly messages: readonly (readonly PythonMessage[])[]
        readonly tools: readonly { readonly function: PythonTool }[]
        readonly options: Readonly<Record<string, unknown>>
      }
    >
  >
  readonly tokenizers: Readonly<
    Record<
      string,
      {
        readonly sequences: readonly (readonly [name: string, ids: readonly number[], ...Differing])[]
        /** Pieces are prompts and replies in turn. A string is the error that the template raises. */
        readonly conversations: Readonly<
          Record<
            string,
            {
              readonly pieces: readonly (readonly number[])[]
              readonly structured: Differing | string
              readonly raw: Differing | string
            }
          >
        >
      }
    >
  >
}

interface PythonMessage {
  readonly role: 'system' | 'user' | 'tool'
  readonly content: string
  readonly tool_call_id?: string
}

interface PythonTool {
  readonly name: string
  readonly description: string
  readonly parameters: Record<string, unknown>
}

const golden: Golden = JSON.parse(readFileSync(path.join(import.meta.dirname, 'golden', 'golden.json'), 'utf8'))

const inPlaceOf = (ids: readonly number[], [head, others, tail]: Differing): readonly number[] => [
  ...ids.slice(0, head),
  ...others,
  ...ids.slice(ids.length - tail),
]

/** The local time of the clock in make.py. */
const CREATED_AT = '2026-07-04T15:09:08'

function trajectoryOf(
  segments: readonly Segment[],
  model: Trajectory['model'],
  { tokenizer, template }: LoadedTokenizer,
): Trajectory {
  const compiled = template(model.tools.length > 0)
  if (!compiled) throw new Error(`${tokenizer.name} has no template`)
  const options = model.template?.options ?? {}
  const bare: Trajectory = {
    format: FORMAT,
    id: 'golden',
    createdAt: CREATED_AT,
    model: { ...model, template: { text: compiled.text, options } },
    vocab: {},
    segments,
    outcome: { kind: 'ended', reason: 'end_turn' },
    provenance: { kind: 'recorded' },
  }
  return withTokenizer(bare, {
    tokenizer,
    endOfTurnId: endOfTurnId({ tokenizer, template: compiled }, options),
    parser: hermes,
  })
}

const messageOf = ({ role, content, tool_call_id: callId }: PythonMessage): Message =>
  role === 'tool' ? { role, content, ...(callId !== undefined && { callId }) } : { role, content }

describe.each(Object.entries(golden.tokenizers))('retokenization of %s', (name, { sequences, conversations }) => {
  const tokenizer = loadedTokenizer(tokenizerFolder(name))
  const sideOf = (trajectory: Trajectory, as: Reconstruction) =>
    buildSide({ as, trajectory, tokenizer, template: undefined })

  test('encodes sequences as Python does, with the same first drift', () => {
    for (const [kind, ids, ...differing] of sequences) {
      const segment: Segment = { kind: 'response', ids, thinks: [], toolCalls: [] }
      const side = sideOf(trajectoryOf([segment], { tools: [] }, tokenizer), { kind: 'text' })
      const found = side.ok ? allIds(side.value.trajectory) : side.why
      const expected = inPlaceOf(ids, differing)
      expect([kind, found]).toEqual([kind, expected])
      expect(commonIds(ids, found as number[])).toBe(differing[0])
    }
  })

  test.each(Object.entries(conversations))('%s: renders and encodes the messages as Python does', (title, run) => {
    const { messages, tools, options } = golden.conversations[title] as Golden['conversations'][string]
    const segments = run.pieces.flatMap((ids, index): Segment[] => {
      if (index % 2 === 0)
        return [{ kind: 'prompt', ids, messages: (messages[index / 2] as PythonMessage[]).map(messageOf) }]
      return ids.length === 0 ? [] : [{ kind: 'response', ids, thinks: [], toolCalls: [] }]
    })
    const trajectory = trajectoryOf(
      segments,
      {
        tools: tools.map(({ function: { name, description, parameters } }) => ({
          name,
          description,
          inputSchema: parameters,
        })),
        template: { text: '', options },
      },
      tokenizer,
    )
    const ids = run.pieces.flat()
    for (const kind of ['structured', 'raw'] as const) {
      const side = sideOf(trajectory, { kind })
      const python = run[kind]
      if (typeof python === 'string') {
        expect(side).toMatchObject({ ok: false, why: expect.stringContaining(python) })
        continue
      }
      const found = side.ok ? allIds(side.value.trajectory) : side.why
      expect([kind, found]).toEqual([kind, inPlaceOf(ids, python)])
      expect(commonIds(ids, found as number[])).toBe(python[0])
    }
    const again = encodeMessages(textsOf(trajectory), { ...tokenizer, parserOf: () => hermes })
    if (typeof run.structured === 'string') {
      expect(again).toMatchObject({ ok: false, why: expect.stringContaining(run.structured) })
      return
    }
    expect(again.ok ? allIds(again.value) : again.why).toEqual(inPlaceOf(ids, run.structured))
  })
})

/** Returns the same conversation as the file of a chat would have it: with messages and without ids. */
function textsOf(trajectory: Trajectory): Trajectory {
  const { tokenizer: _, parser: __, ...model } = trajectory.model
  return {
    ...trajectory,
    model,
    vocab: {},
    provenance: { kind: 'import', format: 'chat', lacked: [], missing: ['ids', 'logprobs'] },
    segments: trajectory.segments.map((segment): Segment => {
      if (segment.kind === 'prompt') return { kind: 'prompt', ids: [], messages: segment.messages }
      const reply = writtenReply(segment, trajectory)
      const calls = reply.calls.filter((call) => call.kind === 'parsed')
      const { content, reasoning } = replyTexts(reply, calls)
      const message = {
        role: 'assistant',
        content,
        ...(reasoning !== undefined && { reasoning_content: reasoning }),
        ...(calls.length > 0 && {
          tool_calls: calls.map((call) => ({
            id: call.id,
            type: 'function',
            function: { name: call.name, arguments: argumentsSource(call, reply.text) },
          })),
        }),
      }
      return { kind: 'response', ids: [], thinks: [], toolCalls: [], message }
    }),
  }
}

test('the golden file has all runs and conversations', () => {
  const all = Object.values(golden.tokenizers)
  expect(all.flatMap(({ sequences }) => sequences).length).toBeGreaterThanOrEqual(200)
  expect(all.flatMap((each) => Object.keys(each.conversations)).length).toBeGreaterThanOrEqual(60)
})
