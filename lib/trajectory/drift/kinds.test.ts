import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { DRIFT_KINDS, KIND_TEXTS } from './kinds.ts'

const cell = (text: string): string => text.replaceAll('|', '\\|')

const row = (kind: (typeof DRIFT_KINDS)[number]): string => {
  const { meaning, details, remedy } = KIND_TEXTS[kind]
  const forms = Object.entries(details).map(([name, text]) => `\`${name}\` ${text}`)
  return `| \`${kind}\` | ${cell([meaning, forms.join('; ')].filter((text) => text !== '').join(' '))} | ${cell(remedy)} |`
}

test('docs/compare.md contains the table of drift kinds', () => {
  const table = ['| kind | what it is | what usually helps |', '| --- | --- | --- |', ...DRIFT_KINDS.map(row)].join(
    '\n',
  )
  expect(readFileSync('docs/compare.md', 'utf8')).toContain(table)
})
