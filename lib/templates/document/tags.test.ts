import { expect, test } from 'vitest'
import { branchesAround, tagsOf } from './tags.ts'

test('tags have their text without delimiters and whitespace control, and their line', () => {
  const source = 'a{#- note -#}\n{{ x }}{%+ if y -%}'
  expect(
    tagsOf(source).map(({ kind, line, innerStart, innerEnd }) => [kind, line, source.slice(innerStart, innerEnd)]),
  ).toEqual([
    ['comment', 1, ' note '],
    ['output', 2, ' x '],
    ['statement', 2, ' if y '],
  ])
})

test('a delimiter in a string literal does not close a tag, and a quote in a comment opens no literal', () => {
  const source = `{{ 'it\\'s }}' }}{# it's #}{{ "}}" }}`
  expect(tagsOf(source).map(({ start, end }) => source.slice(start, end))).toEqual([
    `{{ 'it\\'s }}' }}`,
    "{# it's #}",
    '{{ "}}" }}',
  ])
})

test('a tag that is not closed ends the list', () => {
  expect(tagsOf("{{ a }}{{ 'b }}")).toHaveLength(1)
})

test('the conditions around a line are those of all branches of its blocks, innermost first', () => {
  const source = [
    '{% if outer %}',
    '{% for m in messages %}',
    '{% if first %}',
    'here',
    '{% elif second %}',
    '{% endif %}',
    '{% endfor %}',
    '{% endif %}',
    '{% if other %}{% endif %}',
  ].join('\n')
  const conditions = (text: string, line: number) =>
    branchesAround(text, line).map(({ start, end }) => text.slice(start, end))
  expect(conditions(source, 4)).toEqual(['first', 'second', 'outer'])
  expect(conditions(source, 9)).toEqual(['other'])
  // A block that nothing opened, and a tag without a word.
  expect(conditions('{% elif a %}{% endif %}{% %}', 1)).toEqual([])
})
