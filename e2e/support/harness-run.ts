/** A harness that is not ours: the agent loop of the Vercel AI SDK, which calls a session in place of the API of a model. */
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { generateText, jsonSchema, type ModelMessage, stepCountIs, tool } from 'ai'
import { calculate } from '../../lib/rollout/tools/calculator.ts'

interface HarnessSession {
  /** Address of the session. */
  readonly origin: string
  /** The launch token. */
  readonly key: string
}

/**
 * Runs an agent with a calculator as harnesses do: it asks, repeats a call, delegates to a sub-agent, and replaces its history by a summary.
 * The replies are sampled, and their seeds are fixed.
 */
export async function runHarness({ origin, key }: HarnessSession): Promise<void> {
  const model = createOpenAICompatible({
    name: 'harness',
    baseURL: `${origin}/v1`,
    apiKey: key,
  })('tiny-qwen3')
  const calculator = tool({
    description: 'Evaluate an arithmetic expression.',
    inputSchema: jsonSchema<{ expression: string }>({
      type: 'object',
      properties: { expression: { type: 'string' } },
      required: ['expression'],
    }),
    execute: ({ expression }) => calculate(expression),
  })
  let seed = 11
  const ask = async (system: string, messages: readonly ModelMessage[]): Promise<readonly ModelMessage[]> => {
    const { response } = await generateText({
      model,
      system,
      messages: [...messages],
      tools: { calculator },
      stopWhen: stepCountIs(4),
      maxOutputTokens: 120,
      temperature: 1,
      seed: seed++,
      maxRetries: 0,
    })
    return [...messages, ...response.messages]
  }
  const user = (content: string): ModelMessage => ({ role: 'user', content })
  const SYSTEM = 'You plan journeys. Use the calculator for every number.'
  const first = await ask(SYSTEM, [user('A ticket costs 36 and a bed 19. What is the sum of 36 and 19?')])
  const second = [...first, user('What is 25 * 17?')]
  await ask(SYSTEM, second)
  const question = user('What is 425 - 55?')
  const third = await ask(SYSTEM, [...(await ask(SYSTEM, second)), question])
  await ask('You check the numbers of another agent.', [user('What is 12 * 12?')])
  const summary = user('Summary of 8 earlier messages: the ticket and the bed cost 55, and 25 * 17 is 425.')
  await ask(SYSTEM, [summary, ...third.slice(-1), question])
}
