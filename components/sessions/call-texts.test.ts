import { expect, test } from 'vitest'
import type { SessionCallRow } from '#lib/api/sessions/session.ts'
import { testCall } from '#testing/sessions.ts'
import {
  attachmentText,
  callEntries,
  changeSentence,
  comparedHref,
  entryKey,
  forestText,
  forkedFrom,
  messagesText,
  nodesOfCalls,
  replyText,
} from './call-texts.ts'

const calls: readonly SessionCallRow[] = [
  testCall(1, { kind: 'new-root', because: 'first-call' }),
  testCall(2, { kind: 'continued' }),
  testCall(3, { kind: 'retried', of: 1 }),
  testCall(4, { kind: 'rolled-back', to: 7, dropped: 2, added: 1, abandoned: 1 }),
  testCall(
    5,
    { kind: 'rewritten', from: 7, replaced: 6, by: 1, abandoned: 3 },
    { accepted: [{ rule: 'call-ids', message: 3 }] },
  ),
  testCall(6, { kind: 'new-root', because: 'tools' }),
  testCall(7, null),
]
const nodes = nodesOfCalls(calls)
const nodeAt = (index: number) => nodes[index] as (typeof nodes)[number]

test('Each kind of call names what the client did with its history', () => {
  expect(calls.map((each) => Object.values(attachmentText(each, nodes)))).toEqual([
    ['new root', '', 'root'],
    ['continued', '', 'quiet'],
    ['retried', 'same prompt as 2', 'note'],
    ['rolled back', 'to message 7', 'note'],
    ['rewritten', 'from message 7', 'bad'],
    ['new root', 'other tools', 'root'],
    ['passed through', '', 'quiet'],
  ])
  expect(calls.map(messagesText)).toEqual(['8', '+ 1', '+ 1', '− 2 + 1', '6 → 1', '8', '8'])
  expect(calls.map(changeSentence).filter((text) => text !== '')).toEqual([
    'The client sent the same prompt again.',
    'The client cut 2 messages after message 7 and added 1.',
    'The client replaced 6 messages from message 7 on by 1.',
  ])
})

test('A call that changed a history is compared with the last call of that history', () => {
  expect(calls.map((each) => forkedFrom(each, nodes)?.call.sequence)).toEqual([
    undefined,
    undefined,
    2,
    2,
    4,
    undefined,
    undefined,
  ])
  expect(comparedHref(nodeAt(3), nodeAt(1))).toBe('/compare?left=key+2&right=key+4')
  expect(comparedHref(nodeAt(3), nodeAt(3))).toBeUndefined()
  expect(comparedHref(nodeAt(3), undefined)).toBeUndefined()
})

test('A reply that was aborted or failed says so', () => {
  const { call: first, node } = nodeAt(0)
  const status = (text: 'aborted' | 'failed', error: string | null = null) =>
    replyText({ call: { ...first, error, status: 503 }, node: { ...node, status: text } })
  expect(replyText(nodeAt(0))).toBe('hello')
  expect(status('aborted')).toBe('aborted: hello')
  expect(status('failed', 'no room')).toBe('no room')
  expect(status('failed')).toBe('status 503')
})

test('A call without a place in the forest has a row with its status and its error, and is counted', () => {
  const without = (sequence: number, status: number, error: string | null) =>
    testCall(sequence, null, { status, error, nodes: [], messages: 0 })
  const all = [
    testCall(1, { kind: 'new-root', because: 'first-call' }),
    without(2, 400, 'The field ebnf is not supported.'),
    without(3, 502, null),
    without(4, 499, 'The client closed the connection.'),
  ]
  const entries = callEntries(all)
  expect(entries.map(entryKey)).toEqual(['0', 'call 2', 'call 3', 'call 4'])
  expect(all.slice(1).map((each) => Object.values(attachmentText(each, [])))).toEqual([
    ['refused', 'status 400', 'bad'],
    ['failed', 'status 502', 'bad'],
    ['failed', 'status 499', 'bad'],
  ])
  expect(entries.slice(1).map(replyText)).toEqual([
    'The field ebnf is not supported.',
    'status 502',
    'The client closed the connection.',
  ])
  expect(forestText(all, 1)).toEqual(['1 leaf', '1 root', '1 refused', '2 failed without a place'])
})

test('The line below the forest counts kinds and names the rules', () => {
  expect(forestText(calls, 5)).toEqual([
    '5 leaves',
    '2 roots',
    '1 retried',
    '1 rolled back',
    '1 rewritten',
    'accepted: call-ids',
  ])
})

test('A prompt that was sent while the other call ran is a sample, and a call of a deleted trajectory says so', () => {
  const parallel = [
    testCall(1, { kind: 'new-root', because: 'first-call' }),
    testCall(2, { kind: 'retried', of: 0, isConcurrent: true }),
    testCall(3, { kind: 'new-root', because: 'deleted' }),
  ]
  const own = nodesOfCalls(parallel)
  expect(parallel.map((each) => Object.values(attachmentText(each, own)))).toEqual([
    ['new root', '', 'root'],
    ['sample', 'same prompt as 1', 'quiet'],
    ['new root', 'its trajectory was deleted', 'root'],
  ])
  expect(parallel.map(changeSentence)).toEqual(['', 'The client sent the same prompt while the other call ran.', ''])
  expect(forestText(parallel, 3)).toEqual(['3 leaves', '2 roots', '1 other sample'])
})
