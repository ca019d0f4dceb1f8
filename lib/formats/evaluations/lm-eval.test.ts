/** Opens samples that lm-evaluation-harness wrote (lib/formats/golden/writers/make_lm_eval.py). */
import { expect, test } from 'vitest'
import { conversation } from '#lib/trajectory/messages/conversation.ts'
import { formatOf } from '../registry.ts'
import { fileSource, foreignRecords } from '../replies/test-files.ts'
import { refusalOf, trajectoriesOf } from '../test-trajectories.ts'
import { lmEval } from './lm-eval.ts'

const texts = (value: unknown) =>
  trajectoriesOf(lmEval, value).map((trajectory) =>
    conversation(trajectory).map(({ role, content }) => [role, content]),
  )

test('a sample of lm-evaluation-harness has a trajectory for each generated text and each choice, as a group', () => {
  const records = foreignRecords('lm-eval.jsonl')
  expect(records.map((record) => formatOf(record)?.name)).toEqual(records.map(() => 'lm-eval'))
  expect(records.map(texts)).toEqual([
    ['The answer is 425.', 'It is 424.'].map((text) => [
      ['user', 'Q: What is 25 * 17?\nA:'],
      ['assistant', text],
    ]),
    [
      [
        ['user', 'Q: The root of 81?\nA:'],
        ['assistant', '9'],
      ],
    ],
    [' 3', ' 4'].map((choice) => [
      ['user', 'Q: 2 + 2\nA:'],
      ['assistant', choice],
    ]),
    [[['assistant', 'hi']]],
  ])
  const source = fileSource('samples')
  const read = records.map((record) => trajectoriesOf(lmEval, record, source))
  expect(read.map((all) => all.map(({ group }) => group))).toEqual([
    [0, 1].map((index) => ({ id: '0 take-2', index })),
    [undefined],
    [0, 1].map((index) => ({ id: '0', index })),
    [undefined],
  ])
  expect(read.map(([first]) => first?.reward)).toEqual([undefined, 1, undefined, undefined])
  expect(read.map(([first]) => first?.foreign?.['lm-eval'])).toMatchObject([
    { generation: { temperature: 0.7 }, exact_match: 0, doc: { q: 'What is 25 * 17?' } },
    { generation: { temperature: 0.7 }, target: '9' },
    { resps: [['-1.5', 'False']], acc: 1 },
    { resps: ['-12.5'] },
  ])
})

test('a sample of lm-evaluation-harness has the messages of a server of chats, and requests as earlier versions write them', () => {
  const chat = JSON.stringify([
    { role: 'system', content: 'be' },
    { role: 'user', content: 'hi' },
  ])
  const written = (request: unknown) => ({ doc: {}, arguments: [request], resps: [['yes']], filtered_resps: ['yes'] })
  const messages = [
    [
      ['system', 'be'],
      ['user', 'hi'],
      ['assistant', 'yes'],
    ],
  ]
  expect(texts(written([[chat], { until: [] }]))).toEqual(messages)
  expect(texts(written({ arg_0: [chat], arg_1: {} }))).toEqual(messages)
  expect(texts(written(['hi', {}]))).toEqual([messages[0]?.slice(1)])
  expect(texts({ ...written(['hi', {}]), arguments: null })).toEqual([])
  expect(refusalOf(lmEval, written('hi'))?.path).toBe('arguments[0]')
  expect(refusalOf(lmEval, written([['not JSON'], {}]))?.path).toBe('arguments[0][0]')
  expect(refusalOf(lmEval, written([[7], {}]))?.path).toBe('arguments[0][0]')
  expect(refusalOf(lmEval, { ...written(['hi', {}]), resps: {} })?.path).toBe('resps[0]')
  expect(refusalOf(lmEval, { ...written(['hi', {}]), resps: [[7]] })?.path).toBe('resps')
})
