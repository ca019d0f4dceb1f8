/** Tests token-in/token-out prompts with real tokenizers and their templates. */
import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import { endOfTurnId, type PromptEncoder } from '#lib/rollout/prompt/prompt.ts'
import type { ToolSpec } from '#lib/tools/tool-spec.ts'
import type { Message, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { textOf } from '#lib/trajectory/tokens/pieces.ts'
import { ids } from '#lib/trajectory/tokens/tokens.ts'
import { runs } from '#testing/property-runs.ts'
import { type SimulatedTurn, simulateRollout } from '#testing/simulated-rollout.ts'
import { loadedTokenizer, tokenizerFolder } from '#testing/tokenizers.ts'

const tools: readonly ToolSpec[] = [{ name: 'calculator', inputSchema: { type: 'object', properties: {} } }]
const user = (content: string): Message => ({ role: 'user', content })
const result = (content: string): Message => ({ role: 'tool', content })

const promptTexts = ({ segments, vocab }: Trajectory) =>
  segments.filter(({ kind }) => kind === 'prompt').map((segment) => textOf(segment.ids, vocab))
const checks = ({ segments }: Trajectory) =>
  segments.flatMap((segment) =>
    segment.kind === 'prompt' && segment.derivation?.kind === 'continuation' ? [segment.derivation.check.kind] : [],
  )

describe.each(['qwen3', 'tiny-qwen3'] as const)('a continuation with %s', (name) => {
  let promptEncoder: PromptEncoder
  beforeAll(() => {
    const { tokenizer, template } = loadedTokenizer(tokenizerFolder(name))
    const found = template(true)
    if (!found) throw new Error(`${name} has no template`)
    promptEncoder = { tokenizer, template: found }
  })
  const turn = (text: string, ...messages: Message[]): SimulatedTurn => {
    const end = endOfTurnId(promptEncoder, {}) as number
    return { messages, reply: [...promptEncoder.tokenizer.encode(text), end], finish: { kind: 'stop', matched: end } }
  }

  test('contains only the new part', () => {
    const call = '<think>\nhm\n</think>\n\n<tool_call>\n{"name": "calculator", "arguments": {}}\n</tool_call>'
    const { trajectory } = simulateRollout(
      promptEncoder,
      [
        turn(call, user('What is 25 * 17, and 7 + 8?')),
        turn('<think>\nso\n</think>\n\n425 and 15.', result('425'), result('15')),
        turn('No.', user('And plus 9?')),
      ],
      { tools },
    )
    const results = '<tool_response>\n425\n</tool_response>\n<tool_response>\n15\n</tool_response>'
    expect(promptTexts(trajectory).slice(1)).toEqual([
      `\n<|im_start|>user\n${results}<|im_end|>\n<|im_start|>assistant\n`,
      '\n<|im_start|>user\nAnd plus 9?<|im_end|>\n<|im_start|>assistant\n',
    ])
    expect(checks(trajectory)).toEqual(['held', 'held'])
  })

  test('ends every prompt with the empty think block if thinking is off', () => {
    const turns = [turn('Hello.', user('hi')), turn('Bye.', user('bye'))]
    const { trajectory } = simulateRollout(promptEncoder, turns, { options: { enable_thinking: false } })
    for (const text of promptTexts(trajectory)) expect(text).toMatch(/<think>\n\n<\/think>\n\n$/)
    expect(checks(trajectory)).toEqual(['held'])
  })

  test('extends the earlier request and matches the template for any messages', () => {
    const text = fc.string({
      unit: fc.constantFrom('a', ' ', '\n', '7', 'é', '🙂', '<think>', '</think>', '{"', ' the'),
    })
    fc.assert(
      fc.property(fc.array(fc.tuple(text, text), { minLength: 1, maxLength: 4 }), (pairs) => {
        const turns = pairs.map(([question, answer]) => turn(answer, user(`Q${question}`)))
        const { trajectory, requests } = simulateRollout(promptEncoder, turns, { tools })
        for (const [index, request] of requests.entries())
          expect(request.slice(0, requests[index - 1]?.length ?? 0)).toEqual(requests[index - 1] ?? [])
        expect(ids(trajectory)).toEqual([...(requests.at(-1) as number[]), ...(turns.at(-1) as SimulatedTurn).reply])
        expect(checks(trajectory)).toEqual(turns.slice(1).map(() => 'held'))
      }),
      { numRuns: runs(40) },
    )
  })
})
