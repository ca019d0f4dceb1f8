/** Tests that the model in models/tiny-qwen3 fits its card, and answers the questions that the playground suggests. */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { createTestModel, MODEL_FOLDER, testClient } from './test-model.ts'

const model = createTestModel()
const { post, generate } = testClient(model)
afterAll(() => model.close())

/** The tool as the application declares it (lib/rollout/tools/calculator.ts). */
const calculator = {
  type: 'function',
  function: {
    name: 'calculator',
    description: 'Evaluate an arithmetic expression.',
    parameters: {
      type: 'object',
      properties: {
        expression: { type: 'string', description: 'The expression, for example (1 + 2) * 3. Operators: + - * / % **' },
      },
      required: ['expression'],
    },
  },
}

async function reply(messages: readonly object[], thinking: boolean): Promise<string> {
  const rendered = await post('/v1/tokenize', {
    messages,
    tools: [calculator],
    chat_template_kwargs: { enable_thinking: thinking },
  })
  const { tokens } = await rendered.json()
  const sampling_params = { temperature: 0, max_new_tokens: 256, skip_special_tokens: false }
  return (await generate({ input_ids: tokens, sampling_params })).text
}

test('The shipped model has the checksum of its card and is small enough to ship', () => {
  const weights = readFileSync(path.join(MODEL_FOLDER, 'onnx', 'model.onnx'))
  expect(readFileSync(path.join(MODEL_FOLDER, 'README.md'), 'utf8')).toContain(
    createHash('sha256').update(weights).digest('hex'),
  )
  expect(weights.length).toBeLessThanOrEqual(10_000_000)
})

describe.each([true, false])('The shipped model with thinking %s', (thinking) => {
  test.each([
    ['What is 25 * 17?', ['25 * 17']],
    ['What is 7 + 8?', ['7 + 8']],
    ['What is (3 + 4) * 12?', ['(3 + 4) * 12']],
    ['What is 1024 / 16?', ['1024 / 16']],
    ['What is 2 ** 10?', ['2 ** 10']],
    ['How much is 12 times 31?', ['12 * 31']],
    ['What is 12 * 31 and what is 144 / 16?', ['12 * 31', '144 / 16']],
    // The playground suggests the following questions.
    ['What is 25 * 17, and then plus 9?', ['25 * 17']],
    ['What is (25 * 17)^3?', ['(25 * 17)^3']],
    ['Compute 12 * 7 and 81 / 9', ['12 * 7', '81 / 9']],
    ['What is 15% of 80?', ['15 / 100 * 80']],
  ])('calls the calculator for %s', async (question, expressions) => {
    const text = await reply([{ role: 'user', content: question }], thinking)
    expect(Array.from(text.matchAll(/"expression": "([^"]*)"/g), ([, expression]) => expression)).toEqual(expressions)
    expect(text.includes('<think>')).toBe(thinking)
  })

  test('answers with the result of the tool', async () => {
    const text = await reply(
      [
        { role: 'user', content: 'What is 25 * 17?' },
        {
          role: 'assistant',
          content: '',
          tool_calls: [{ type: 'function', function: { name: 'calculator', arguments: { expression: '25 * 17' } } }],
        },
        { role: 'tool', content: '425' },
      ],
      thinking,
    )
    expect(text).toContain('25 * 17 = 425.')
  })
})
