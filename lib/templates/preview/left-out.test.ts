import { describe, expect, test } from 'vitest'
import { chatTemplate } from '#lib/templates/chat-template.ts'
import { readInput } from '../document/input.ts'
import { leftOutText } from './left-out.ts'

const call = (name: string) => ({ type: 'function', function: { name, arguments: { city: 'Oslo' } } })
const TOOLS = [{ type: 'function', function: { name: 'get_weather', description: 'get_weather', parameters: {} } }]
const CONVERSATION = [
  { role: 'user', content: 'get_weather' },
  { role: 'assistant', reasoning_content: 'get_weather', content: '', tool_calls: [call('get_weather')] },
  { role: 'tool', content: 'rain' },
  { role: 'assistant', content: '<think>\nIt rains.\n</think>\n\nRain.' },
]

function leftOut(template: string, messages: readonly object[] = CONVERSATION, tools: readonly object[] = TOOLS) {
  const read = readInput({ messages: JSON.stringify(messages), tools: JSON.stringify(tools), options: '' })
  if (!read.ok) throw new Error(read.error.message)
  return leftOutText(read.value, chatTemplate(template, {}))
}

const CONTENT = '{%- for m in messages -%}{{- m.role + m.content -}}'
const END = '{%- endfor -%}'

describe('the sentence about what a template leaves out', () => {
  test('names all that is missing, even if the same words are in a question', () => {
    expect(leftOut(`${CONTENT}${END}`)).toBe(
      'The template leaves out the tools, the calls of message 2 and the thinking of message 2.',
    )
  })

  test('names thinking that is cut from the content', () => {
    expect(
      leftOut(
        "{{- tools | tojson -}}{%- for m in messages -%}{{- m.reasoning_content -}}{{- m.content.split('</think>')[-1] -}}{{- m.tool_calls | default([]) | tojson -}}{%- endfor -%}",
      ),
    ).toBe('The template leaves out the thinking of message 4.')
  })

  test('is missing if all is printed or there is nothing to print', () => {
    const all = `{{- tools | tojson -}}${CONTENT}{{- m.reasoning_content -}}{{- m.tool_calls | default([]) | tojson -}}${END}`
    expect(leftOut(all)).toBeUndefined()
    expect(leftOut(`${CONTENT}${END}`, [{ role: 'user', content: 'Hi' }], [])).toBeUndefined()
  })

  test('does not name thinking that is printed under one of its names', () => {
    const both = [{ role: 'assistant', content: 'a', reasoning: 'Hm.', thinking: 'Hm.' }]
    expect(leftOut(`${CONTENT}{{- m.thinking -}}${END}`, both, [])).toBeUndefined()
  })

  test('counts messages if there are many', () => {
    const many = Array.from({ length: 9 }, () => ({ role: 'assistant', content: 'a', thinking: 'Hm.' }))
    expect(leftOut(`${CONTENT}${END}`, many, [])).toBe(
      'The template leaves out the thinking of messages 1, 2, 3, 4, 5, 6 and 3 more.',
    )
  })

  test('is missing if the template takes only names that it knows', () => {
    const strict =
      "{%- for m in messages -%}{%- for c in m.tool_calls or [] -%}{%- if c.function.name != 'get_weather' -%}{{- raise_exception('unknown tool') -}}{%- endif -%}{%- endfor -%}{%- endfor -%}"
    expect(leftOut(strict)).toBeUndefined()
  })

  test('reads tools and calls without the function object, and ignores those without a name', () => {
    const bare = [{ role: 'assistant', content: 'a', tool_calls: [{ name: 'f', arguments: {} }, { id: 'x' }, 'y'] }]
    expect(leftOut(`${CONTENT}${END}`, bare, [{ name: 'f' }, { description: 'no name' }])).toBe(
      'The template leaves out the tools and the calls of message 1.',
    )
  })

  test('ignores empty think blocks, and replies whose content is no text', () => {
    const empty = [
      { role: 'assistant', content: '<think>\n\n</think>\n\nRain.', reasoning_content: ' ' },
      { role: 'assistant', content: [{ type: 'text', text: 'a' }] },
    ]
    expect(leftOut('x', empty, [])).toBeUndefined()
  })
})
