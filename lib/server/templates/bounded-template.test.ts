import { expect, test, vi } from 'vitest'
import { chatTemplate } from '#lib/templates/chat-template.ts'
import { boundedTemplate } from './bounded-template.ts'

const input = { messages: [{ role: 'user', content: 'hi' }], tools: undefined, addGenerationPrompt: false, options: {} }

test('A bounded template accepts a smaller budget and limits a larger one', () => {
  const long = boundedTemplate(chatTemplate("{{ 'a' * 3000000 }}", {}))
  const generous = { steps: 50_000_000, size: 8_000_000, milliseconds: 60_000 }
  expect(() => long.trace(input, generous)).toThrow('longer than 2000000')
  expect(() => long.render(input, generous)).toThrow('longer than 2000000')
  expect(() => long.trace(input, { ...generous, size: 10 })).toThrow('longer than 10')
})

test('A bounded template is limited by processor time, not by the time that other processes take', () => {
  let time = 0
  vi.spyOn(performance, 'now').mockImplementation(() => (time += 10_000))
  const steps = chatTemplate('{% for i in range(20000) %}{% endfor %}done', {})
  expect(() => steps.render(input)).toThrow('took longer than 5000 ms')
  expect(boundedTemplate(steps).render(input)).toBe('done')
})

test('A template is bounded once, so that its cached results stay', () => {
  const template = chatTemplate('{{ messages[0].content }}', {})
  expect(boundedTemplate(template)).toBe(boundedTemplate(template))
  expect(boundedTemplate(template).render(input)).toBe('hi')
})
