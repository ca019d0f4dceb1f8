import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { allowedValues, allowedValuesOfKind } from './allowed-values.ts'
import {
  isOwnParameter,
  isSamplingName,
  OWN_PARAMETERS,
  SAMPLING_GROUPS,
  samplingNames,
  samplingParameter,
} from './parameters.ts'
import { valueSchemas } from './values.ts'
import { OWN_WORDS, SAMPLING_WORDS } from './words.ts'

/** SGLang 0.5.23 lists its known parameters when it refuses an unknown one. */
const refusal: string = JSON.parse(readFileSync('lib/sglang/recordings/errors-err-unknown-sampling-param.json', 'utf8'))
  .response.error

test('the parameter table has each of SGLang’s parameters once', () => {
  const [, known = ''] = refusal.split('expected one of')
  const names = [...known.matchAll(/`(\w+)`/g)].map(([, name]) => name)
  expect(names.length).toBeGreaterThan(25)
  expect([...samplingNames, ...Object.keys(OWN_PARAMETERS), 'choice'].sort()).toEqual(names.sort())
})

test('each parameter has an explanation in sentences and a default within its range', () => {
  for (const name of samplingNames) {
    const parameter = samplingParameter(name)
    expect(SAMPLING_GROUPS).toContain(parameter.group)
    const { explanation, training = 'None.' } = SAMPLING_WORDS[name]
    for (const sentence of [explanation, training]) expect(sentence).toMatch(/^[A-Z].*\.$/s)
    expect(allowedValuesOfKind(parameter)).toMatch(/^(an? |at most |token |true )/)
    if (parameter.default !== null) expect(valueSchemas[name].safeParse(parameter.default).success).toBe(true)
  }
})

test('isSamplingName rejects names of Object.prototype', () => {
  expect(isSamplingName('top_p')).toBe(true)
  expect(isSamplingName('toString')).toBe(false)
  expect(isOwnParameter('n')).toBe(true)
  expect(isOwnParameter('constructor')).toBe(false)
})

const cell = (text: string): string => text.replaceAll('|', '\\|')

test('docs/playground.md contains the table of parameters', () => {
  const rows = samplingNames.map((name) => {
    const { group, default: standard } = samplingParameter(name)
    const { explanation, training } = SAMPLING_WORDS[name]
    const what = [explanation, training].filter(Boolean).join(' ')
    return `| \`${name}\` | ${group} | ${allowedValues(name)} | ${standard ?? ''} | ${cell(what)} |`
  })
  const own = Object.entries(OWN_WORDS).map(([name, why]) => `| \`${name}\` | ${cell(why)} |`)
  const document = readFileSync('docs/playground.md', 'utf8')
  expect(document).toContain(
    [
      '| parameter | group | value | SGLang’s default | what it does |',
      '| --- | --- | --- | --- | --- |',
      ...rows,
    ].join('\n'),
  )
  expect(document).toContain(['| not for setting | why |', '| --- | --- |', ...own].join('\n'))
})
