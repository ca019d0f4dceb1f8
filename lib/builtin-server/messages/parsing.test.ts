/** Compares the parsers with those of the real SGLang 0.5.23: the answers are equal, or a table names the difference and its reason. */
import { readFileSync } from 'node:fs'
import { afterAll, describe, expect, test } from 'vitest'
import { createTestModel, testClient } from '#lib/builtin-server/test-model.ts'
import { answerTo, isRefused, recorded, recordedNames } from '#lib/builtin-server/test-openai.ts'
import { parserOfServer } from '#lib/parsers/registry.ts'

/** Parser, text, and the answer or its status. */
type Line = readonly [parser: string, text: string, answer: unknown]

const golden: {
  readonly tools: readonly unknown[]
  readonly calls: readonly Line[]
  readonly reasoning: readonly Line[]
} = JSON.parse(readFileSync('lib/builtin-server/messages/golden/parsing.json', 'utf8'))

/** Names of the texts in the order in which every parser was given them (peers/recordings/recorded-parsing.ts). */
const TEXTS = [
  'text before',
  'two calls',
  'text behind',
  'an unknown tool',
  'an unknown tool and a known',
  'values of all types',
  'no arguments',
  'no call',
  'a value that is not closed',
  'a call that is cut',
]

const BROKEN = ['a value that is not closed', 'a call that is cut']
const SINGLE = ['an unknown tool', 'values of all types', 'no arguments', ...BROKEN]

const OTHERWISE: readonly (readonly [parser: RegExp, texts: readonly string[], why: string])[] = [
  [/^hermes$/, BROKEN, 'returns the whole text then'],
  [/^llama3$/, BROKEN, 'returns the text after the tag then'],
  [/^deepseekv31?$/, ['a value that is not closed'], 'returns the whole text then'],
  [/^pythonic$/, ['a call that is cut'], 'returns the whole text then'],
  [/^gpt-oss$/, ['text before', 'text behind', ...SINGLE], 'takes no call for one that is the last of its text'],
  [/^(qwen3_coder|step3p5|nanbeige)$/, BROKEN, 'reads what is there of a call that is not closed'],
  [/^mimo$/, TEXTS, 'its format has no white space around values'],
  [/^glm(45)?$/, ['a value that is not closed'], 'returns the call without the argument'],
  [/^glm47$/, TEXTS, 'fails with a 500 on a model of another family'],
  [/^deepseekv4$/, TEXTS, 'is refused with a 400 on a model of another family'],
  [/^(minimax-m2|cohere_command4)$/, ['a call that is cut'], 'reads what is there, or returns the whole text'],
  [/^minimax-m2$/, ['a value that is not closed'], 'reads what is there of a call that is not closed'],
  [
    /^(minimax-m3|minicpm5|muse|kimi_k3|hunyuan)$/,
    ['a value that is not closed'],
    'returns the call without the argument',
  ],
  [/^(minimax-m3|minicpm5)$/, ['a call that is cut'], 'returns the whole text then'],
  [/^gemma4$/, ['values of all types'], 'reads null as a text'],
  [/^gemma4$/, BROKEN, 'reads what is there, or returns the whole text'],
  [/^minimax-m3$/, ['values of all types'], 'what no schema names is a text'],
  [/^minicpm5$/, ['an unknown tool', 'an unknown tool and a known'], 'leaves calls of unknown tools in the text'],
  [/^muse$/, ['text before'], 'needs the start of the message, with nothing before it'],
  [/^muse$/, ['two calls'], 'decodes texts as JSON'],
  [/^apertus2509$/, BROKEN, 'returns the whole text then'],
  [
    /^gigachat3$/,
    ['two calls', 'text behind', 'an unknown tool and a known'],
    'reads one call, with nothing behind it',
  ],
  [/^kimi_k2$/, ['a value that is not closed'], 'hands on arguments that are no JSON'],
]

const model = createTestModel()
afterAll(() => model.close())
const { post } = testClient(model)

const answer = async (place: string, body: object): Promise<unknown> => {
  const response = await post(place, body)
  return response.status === 200 ? response.json() : response.status
}

describe('/parse_function_call answers like SGLang', () => {
  const lines = golden.calls.map((line, index) => [line[0], TEXTS[index % TEXTS.length] as string, line] as const)
  const isOther = (parser: string, what: string): boolean =>
    OTHERWISE.some(([pattern, texts]) => pattern.test(parser) && texts.includes(what))
  const known = lines.filter(([parser]) => parserOfServer(parser) !== undefined)

  test('except for the listed differences, each of which exists', async () => {
    expect(known.length).toBeGreaterThanOrEqual(300)
    for (const [parser, texts] of OTHERWISE) {
      const said = known.filter(([name, what]) => parser.test(name) && texts.includes(what))
      const same = await Promise.all(said.map(async ([, , line]) => (await isAsRecorded(line)) === undefined))
      expect([parser, same.includes(false)]).toEqual([parser, true])
    }
  })

  test.each(known.filter(([parser, what]) => !isOther(parser, what)))(
    'with the parser %s for %s',
    async (_parser, _what, line) => {
      expect(await isAsRecorded(line)).toBeUndefined()
    },
  )

  /** Returns our answer and SGLang's if they differ; undefined if they are equal. */
  async function isAsRecorded([parser, text, theirs]: Line): Promise<unknown> {
    const ours = await answer('/parse_function_call', { text, tools: golden.tools, tool_call_parser: parser })
    return JSON.stringify(ours) === JSON.stringify(theirs) ? undefined : { text, ours, theirs }
  }
})

describe('/separate_reasoning answers like SGLang', () => {
  /** These parsers do more than look for delimiters. */
  const REFUSED_HERE = /^(deepseek-v4|gpt-oss|granite_thinking_parser|ling3|minimax-append-think)$/

  test.each(golden.reasoning)('with the parser %s for %j', async (parser, text, theirs) => {
    const ours = await answer('/separate_reasoning', { text, reasoning_parser: parser, return_blocks: true })
    expect(ours).toEqual(REFUSED_HERE.test(parser) ? 400 : theirs)
  })

  // The answers are those of SGLang's ReasoningParser 0.5.23.
  test.each([
    ['gemma4', '<|channel>a<channel|>b', '<|channel>a', 'b'],
    ['gemma4', 'x<|channel>thought\na<channel|>b', 'x<|channel>thought\na', 'b'],
    ['gemma4', '<|channel>thought\n<|channel>thought\na', 'a', ''],
    ['gemma4', 'a<channel|>b', '', 'a<channel|>b'],
    ['minimax-m3', ' </mm:think>b', '', 'b'],
    ['minimax-m3', '</mm:think><mm:think>a</mm:think>b', 'a', 'b'],
    ['minimax-m3', 'a</mm:think>b', '', 'a</mm:think>b'],
  ])('with the parser %s for the unusual text %j', async (parser, text, reasoning, rest) => {
    expect(await answer('/separate_reasoning', { text, reasoning_parser: parser })).toEqual({
      reasoning_text: reasoning,
      text: rest,
    })
  })
})

describe('The recorded request', () => {
  const names = [...recordedNames('parse-'), ...recordedNames('separate-')]

  test.each(names.filter((name) => !isRefused(name)))('%s has the recorded answer', async (name) => {
    const { status, json } = await answerTo(model, name)
    expect([status, json()]).toEqual([200, recorded(name).response])
  })

  /** SGLang answers these with 500 and no message. */
  const UNKNOWN_PARSER = /-err-(no-)?parser$/

  test.each(names.filter(isRefused))('%s has the recorded refusal', async (name) => {
    const { status, json } = await answerTo(model, name)
    const { status: theirs, response } = recorded(name)
    expect(status).toBe(400)
    if (theirs === 500) {
      expect(name).toMatch(UNKNOWN_PARSER)
      expect(json()).toEqual({
        error: { message: expect.stringMatching(/^Unsupported (tool_call_parser|model type): /) },
      })
    } else expect(json()).toEqual({ ...(response as object), message: expect.stringContaining('validation error') })
  })
})
