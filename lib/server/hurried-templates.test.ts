import { expect, test } from 'vitest'
import { chatTemplate } from '#lib/templates/chat-template.ts'
import { hurrying } from './hurried-templates.ts'

const input = { messages: [{ role: 'user', content: 'hi' }], tools: undefined, addGenerationPrompt: false, options: {} }

/** Each look at the clock takes a second; `turn` lets others be served. */
function slow() {
  let time = 0
  let waiting: (() => void)[] = []
  const hurried = hurrying({
    now: () => (time += 1_000),
    afterTurn: (callback) => waiting.push(callback),
  })
  const turn = () => {
    for (const callback of waiting) callback()
    waiting = []
  }
  return { template: hurried(chatTemplate('{{ messages[0].content }}', {})), turn }
}

test('many renders in a row end, and go on once others were served', () => {
  const { template, turn } = slow()
  const renders = () => [template.render(input), template.trace(input).text, template.render(input)]
  expect(renders()).toEqual(['hi', 'hi', 'hi'])
  expect(() => template.render(input)).toThrow('longer than 3000 ms at one go')
  turn()
  expect(renders()).toEqual(['hi', 'hi', 'hi'])
})

test('a budget that is given may be smaller, and no larger', () => {
  const long = hurrying()(chatTemplate("{{ 'a' * 3000000 }}", {}))
  const generous = { steps: 50_000_000, size: 8_000_000, milliseconds: 60_000 }
  expect(() => long.trace(input, generous)).toThrow('longer than 2000000')
  expect(() => long.trace(input, { ...generous, size: 10 })).toThrow('longer than 10')
})
