/** The conversation of every family: a question, two turns of calls and the answer; and the tools that it calls. */
import type { TemplateMessage } from '#lib/templates/chat-template.ts'
import { calculator } from '../tools/calculator.ts'
import type { AgentTool } from '../tools/tool.ts'
import type { Family } from './test-families.ts'

/** The question of the user. It contains a letter beyond ASCII. */
export const QUESTION = 'What do 1 kg of flour and 7 g of yeast cost in Zürich?'

interface Call {
  readonly name: string
  readonly input: Readonly<Record<string, unknown>>
  readonly result: string
}

interface Step {
  readonly reasoning: string
  readonly content: string
  readonly calls: readonly Call[]
}

/** The arguments contain quotes, letters beyond ASCII, a number and booleans; the result looks like a number. */
const flour: Call = {
  name: 'price',
  input: { item: 'flour "405"', city: 'Zürich', grams: 500, organic: true },
  result: '1.20',
}
const twice: Call = { name: 'calculator', input: { expression: '2*1.20' }, result: '2.4' }
const yeast: Call = {
  name: 'price',
  input: { item: 'dry yeast', city: 'Zürich', grams: 7, organic: false },
  result: '0.95',
}

/** Returns the three replies of the conversation. The second has two calls if the family can write parallel ones. */
export const stepsOf = ({ parallel }: Family): readonly Step[] => [
  { reasoning: 'First the flour.', content: '', calls: [flour] },
  { reasoning: 'Twice that, and the yeast.', content: '', calls: parallel ? [twice, yeast] : [twice] },
  { reasoning: 'That is all.', content: 'Flour costs 2.4 francs, yeast 0.95.', calls: [] },
]

/** Returns the messages before each request and at the end, as transformers gets them. */
export function conversationsOf(family: Family): readonly (readonly TemplateMessage[])[] {
  const messages: TemplateMessage[] = [{ role: 'user', content: QUESTION }]
  const before: TemplateMessage[][] = []
  let count = 0
  for (const { reasoning, content, calls } of stepsOf(family)) {
    before.push([...messages])
    const ids = calls.map(() => {
      const number = count++
      return family.callIds?.[number] ?? `call_${String(number).padStart(4, '0')}`
    })
    messages.push({
      role: 'assistant',
      content: content === '' && family.omitsContent ? null : content,
      ...(family.thinks && { [family.reasoningField ?? 'reasoning_content']: reasoning }),
      ...(calls.length > 0 && {
        tool_calls: calls.map(({ name, input }, index) => ({
          id: ids[index],
          type: 'function',
          function: { name, arguments: family.argumentsAsText ? JSON.stringify(input) : input },
        })),
      }),
    })
    for (const [index, { result }] of calls.entries())
      messages.push({ role: 'tool', tool_call_id: ids[index] as string, content: result })
  }
  return [...before, messages]
}

/** Returns the tools of the conversation. They append the name and the input of every call to `runs`. */
export function toolsFor(family: Family, runs: [string, unknown][]): readonly AgentTool[] {
  const prices = stepsOf(family).flatMap(({ calls }) => calls.filter(({ name }) => name === 'price'))
  const price: AgentTool = {
    spec: {
      name: 'price',
      description: 'Looks up a price.',
      inputSchema: {
        type: 'object',
        properties: {
          item: { type: 'string', description: 'What is bought.' },
          city: { type: 'string', description: 'Where it is bought.' },
          grams: { type: 'integer', description: 'How much of it.' },
          organic: { type: 'boolean', description: 'Whether it is organic.' },
        },
        required: ['item', 'city', 'grams', 'organic'],
      },
    },
    run(input) {
      const known = prices.find((call) => call.input.item === input.item)
      if (!known) throw new Error(`there is no price of ${input.item}`)
      return known.result
    },
  }
  return [price, calculator].map((tool) => ({
    spec: tool.spec,
    run(input, call) {
      runs.push([tool.spec.name, input])
      return tool.run(input, call)
    },
  }))
}
