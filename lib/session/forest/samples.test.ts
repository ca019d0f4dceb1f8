import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { elementAt } from '#lib/util/element-at.ts'
import type { SessionNode } from './forest.ts'
import type { LeafPicker } from './samples.ts'
import { LEAF_PICKERS, leavesOf, pathTokenCount, pickLeaves, sessionSamples } from './samples.ts'
import { CONTEXT, history, outcome, reply, type WrittenForest, writtenForest } from './test-forests.ts'

const leaves = ({ forest }: WrittenForest, ...pickers: LeafPicker[]) =>
  pickLeaves(forest.nodes, pickers).leaves.map(({ sequence }) => sequence)

/** Draws samples: prompts in parentheses, replies in brackets with the trained ones marked by a star. */
const draw = ({ forest }: WrittenForest, mask: 'once' | 'every-leaf', maxTokens?: number) => {
  const { samples, leftOut } = sessionSamples(forest.nodes, {
    pickers: ['all'],
    mask,
    ...(maxTokens !== undefined && { maxTokens }),
  })
  const drawn = samples.map(({ leaf, parts }) => {
    const texts = parts.map(({ node, kind, tokens, trained }) =>
      kind === 'prompt' ? `(${node}:${tokens})` : `[${node}${trained.end > trained.start ? '*' : ''}]`,
    )
    return `${leaf}: ${texts.join('')}`
  })
  return { drawn, leftOut }
}

/** The forest of the page of sessions: a retry after a lost reply, a rollback, a sub-agent and a summary. */
function session(): WrittenForest {
  const written = writtenForest()
  const { add } = written
  add('s:x u:a', '1')
  add('s:x u:a a:1 t:r', '2')
  add('s:x u:a a:1 t:r a:2 t:q', 'lost', { status: 'aborted' })
  add('s:x u:a a:1 t:r a:2 t:q', '4')
  add('s:x u:a a:1 t:r a:2 t:q a:4 t:p', '5')
  add('s:x u:a a:1 t:r a:2 t:q a:4 t:P', '6')
  add('s:x u:a a:1 t:r a:2 t:q a:4 t:P a:6 t:o', '7')
  add('s:sub u:b', '8')
  add('s:sub u:b a:8 t:n', '9')
  add('s:x u:a a:1 t:r a:2 t:q u:summary', '10')
  add('s:x u:a a:1 t:r a:2 t:q u:summary a:10 t:m', '11')
  return written
}

describe('A session with a retry, a rollback, a sub-agent and a summary', () => {
  const written = session()

  test('has the kinds of its calls', () => {
    expect(written.forest.nodes.map(({ attached }) => attached.kind)).toEqual([
      'new-root',
      'continued',
      'continued',
      'retried',
      'continued',
      'rolled-back',
      'continued',
      'new-root',
      'continued',
      'rewritten',
      'continued',
    ])
  })

  test('gives each picker its leaves', () => {
    expect(leaves(written, 'all')).toEqual([2, 4, 6, 8, 10])
    expect(leaves(written, 'without-retries')).toEqual([4, 6, 8, 10])
    expect(leaves(written, 'without-rolled-back')).toEqual([2, 6, 8, 10])
    expect(leaves(written, 'without-retries', 'without-rolled-back')).toEqual([6, 8, 10])
    expect(leaves(written, 'without-aborted')).toEqual([4, 6, 8, 10])
    expect(leaves(written, 'longest')).toEqual([6])
    expect(pickLeaves(written.forest.nodes, ['longest']).leftOut).toEqual([
      { leaf: 2, because: 'longest', tokens: 7 },
      { leaf: 4, because: 'longest', tokens: 9 },
      { leaf: 8, because: 'longest', tokens: 5 },
      { leaf: 10, because: 'longest', tokens: 10 },
    ])
  })

  test('lists what is left out in the order of the leaves, whatever left it out', () => {
    const pickers = ['without-rolled-back', 'without-retries'] as const
    const { leftOut } = sessionSamples(written.forest.nodes, { pickers, mask: 'once', maxTokens: 0 })
    expect(leftOut.map(({ leaf, because }) => [leaf, because])).toEqual([
      [2, 'without-retries'],
      [4, 'without-rolled-back'],
      [6, 'total-tokens'],
      [8, 'total-tokens'],
      [10, 'total-tokens'],
    ])
  })

  test('trains shared replies in the first sample, or in every one', () => {
    expect(draw(written, 'once').drawn.slice(0, 3)).toEqual([
      '2: (0:2)[0*](1:1)[1*](2:1)[2*]',
      '4: (0:2)[0](1:1)[1](3:1)[3*](4:1)[4*]',
      '6: (0:2)[0](1:1)[1](3:1)[3](5:1)[5*](6:1)[6*]',
    ])
    expect(draw(written, 'every-leaf').drawn[1]).toBe('4: (0:2)[0*](1:1)[1*](3:1)[3*](4:1)[4*]')
  })

  test('is cut after whole calls where the limit of tokens is reached, and says what is left out', () => {
    expect(draw(written, 'once', 13)).toEqual({
      drawn: ['2: (0:2)[0*](1:1)[1*](2:1)[2*]', '4: (0:2)[0](1:1)[1]'],
      leftOut: [
        { leaf: 4, because: 'total-tokens', tokens: 4, cutAfter: 1 },
        { leaf: 6, because: 'total-tokens', tokens: 11 },
        { leaf: 8, because: 'total-tokens', tokens: 5 },
        { leaf: 10, because: 'total-tokens', tokens: 10 },
      ],
    })
  })
})

describe('The picker without retries', () => {
  test('keeps the last complete attempt, although a later one was aborted', () => {
    const written = writtenForest()
    written.add('u:a', '1')
    written.add('u:a', '2')
    written.add('u:a', 'lost', { status: 'aborted' })
    written.add('u:a', '', { status: 'failed' })
    expect(leaves(written, 'without-retries')).toEqual([1])
    expect(leaves(written, 'longest')).toEqual([2])
  })

  test('keeps the last attempt if none was completed, and all replies of one call', () => {
    const written = writtenForest()
    written.add('u:a', 'lost', { status: 'aborted' })
    written.add('u:a', 'lost too', { status: 'aborted' })
    written.add('u:b', '1', { choices: ['2'] })
    written.add('u:b', '3', { choices: ['4'] })
    expect(leaves(written, 'without-retries')).toEqual([1, 4, 5])
  })

  test('leaves out what continues an earlier attempt', () => {
    const written = writtenForest()
    written.add('u:a', '1')
    written.add('u:a a:1 u:b', '2')
    written.add('u:a', '3')
    expect(leaves(written, 'without-retries')).toEqual([2])
  })
})

describe('The picker without rolled-back leaves', () => {
  test('keeps a leaf that was continued after the rollback', () => {
    const written = writtenForest()
    written.add('u:a', '1')
    written.add('u:a a:1 u:b', '2')
    written.add('u:a a:1 u:c', '3')
    expect(leaves(written, 'without-rolled-back')).toEqual([2])
    written.add('u:a a:1 u:b a:2 u:d', '4')
    expect(leaves(written, 'without-rolled-back')).toEqual([2, 3])
  })

  test('leaves out the tree that a client cut inside of its first prompt, and keeps other trees', () => {
    const written = writtenForest()
    written.add('s:x u:a u:b', '1')
    written.add('s:y u:a', '2')
    written.add('s:x u:a', '3')
    expect(written.forest.nodes[2]?.attached.kind).toBe('rolled-back')
    expect(leaves(written, 'without-rolled-back')).toEqual([1, 2])
  })

  test('keeps everything if the call that rolled back failed', () => {
    const written = writtenForest()
    written.add('u:a', '1')
    written.add('u:a a:1 u:b', '2')
    written.add('u:a a:1 u:c', '', { status: 'failed' })
    expect(leaves(written, 'without-rolled-back')).toEqual([1])
  })
})

describe('A path whose prompt a server tokenized differently', () => {
  const { forest } = writtenForest()
  const attach = (words: string) => {
    const written = forest.attach({
      messages: words
        .split(' ')
        .map((text, index) => ({ role: index % 2 === 0 ? 'user' : 'assistant', content: text })),
      context: { tools: '', template: '' },
    })
    if (!written.ok) throw new Error(written.why)
    return written.attachment
  }
  const add = (words: string, answer: string, tokens: { start: number; prompt: number; reply: number }) =>
    forest.append(attach(words), [{ status: 'complete', reply: { role: 'assistant', content: answer }, tokens }])
  add('a', '1', { start: 0, prompt: 3, reply: 4 })
  // Two tokens of the reply remain.
  add('a 1 b', '2', { start: 5, prompt: 2, reply: 1 })
  // Nothing of the prompt and the reply before remains.
  add('a 1 b 2 c', '3', { start: 0, prompt: 9, reply: 1 })

  test('is a sample of its own beside the path that it does not keep whole', () => {
    expect(leavesOf(forest.nodes).map(({ sequence }) => sequence)).toEqual([0, 1, 2])
    const { samples } = sessionSamples(forest.nodes, { pickers: ['all'], mask: 'once' })
    expect(samples[1]?.parts).toEqual([
      { node: 0, kind: 'prompt', tokens: 3, trained: { start: 0, end: 0 } },
      { node: 0, kind: 'reply', tokens: 2, trained: { start: 2, end: 2 } },
      { node: 1, kind: 'prompt', tokens: 2, trained: { start: 0, end: 0 } },
      { node: 1, kind: 'reply', tokens: 1, trained: { start: 0, end: 1 } },
    ])
    expect(samples[2]?.parts.map(({ node }) => node)).toEqual([2, 2])
  })

  test('trains tokens in a later sample that the first one lacks', () => {
    const [first, second] = forest.nodes
    if (!first || !second) throw new Error('the forest has three nodes')
    const trained = (...starts: number[]) => {
      const further = starts.map((start, index) => ({
        ...second,
        ...{ sequence: index + 1, call: index + 1, tokens: { start, prompt: 1, reply: 1 } },
      }))
      const { samples } = sessionSamples([first, ...further], { pickers: ['all'], mask: 'once' })
      return samples.map(({ parts }) => parts.find(({ node, kind }) => node === 0 && kind === 'reply')?.trained)
    }
    expect(trained(5, 7)).toEqual([
      { start: 0, end: 2 },
      { start: 2, end: 4 },
    ])
    expect(trained(7, 5, 7).slice(1)).toEqual([
      { start: 2, end: 2 },
      { start: 4, end: 4 },
    ])
  })
})

test('Each token of a reply is trained in the first sample that has it, whatever the servers kept of the paths, within the limit of tokens', () => {
  const size = fc.nat({ max: 4 })
  const call = fc.record({ parent: fc.option(fc.nat()), start: fc.nat({ max: 20 }), prompt: size, reply: size })
  fc.assert(
    fc.property(fc.array(call, { maxLength: 8 }), fc.option(fc.nat({ max: 60 })), (calls, limit) => {
      const nodes: SessionNode[] = []
      for (const [sequence, { parent, start, prompt, reply: length }] of calls.entries()) {
        const before = parent === null || sequence === 0 ? undefined : elementAt(nodes, parent % sequence)
        nodes.push({
          ...{ sequence, call: sequence, choice: 0, kept: 0, messages: [], accepted: [], context: CONTEXT },
          ...(before && { parent: before.sequence }),
          ...{ attached: { kind: 'continued' }, status: 'complete', reply: reply('1') },
          tokens: { start: before ? Math.min(start, pathTokenCount(before)) : 0, prompt, reply: length },
        })
      }
      const settings = { pickers: [], mask: 'once', ...(limit !== null && { maxTokens: limit }) } as const
      const { samples, leftOut } = sessionSamples(nodes, settings)
      const leavesHere = leavesOf(nodes)
      const whole = samples.filter(({ leaf }) => leftOut.every((one) => one.leaf !== leaf))
      expect(whole.length + leftOut.length).toBe(leavesHere.length)
      const seen = new Set<string>()
      let total = 0
      for (const { parts } of samples)
        for (const { node, kind, tokens, trained } of parts) {
          total += tokens
          for (let index = 0; index < tokens; index++) {
            const isTrained = index >= trained.start && index < trained.end
            expect(isTrained).toBe(kind === 'reply' && !seen.has(`${node} ${index}`))
            if (kind === 'reply') seen.add(`${node} ${index}`)
          }
        }
      expect(total).toBeLessThanOrEqual(limit ?? Number.POSITIVE_INFINITY)
      const all = leavesHere.reduce((sum, leaf) => sum + pathTokenCount(leaf), 0)
      expect(total + leftOut.reduce((sum, { tokens }) => sum + tokens, 0)).toBe(all)
      expect(sessionSamples(nodes, { ...settings, maxTokens: all }).leftOut).toEqual([])
    }),
  )
})

test('A session without a call has no samples', () => {
  expect(sessionSamples([], { pickers: [...LEAF_PICKERS], mask: 'once', maxTokens: 0 })).toEqual({
    samples: [],
    leftOut: [],
  })
})

test('Samples of a prompt that were requested at the same time are no retries, and a retry replaces the one that it repeats', () => {
  const { forest, place, add } = writtenForest()
  const three = [place('u:a'), place('u:a'), place('u:a')]
  for (const [index, attachment] of three.entries())
    forest.append(attachment, [outcome(attachment, reply(`${index}`), index === 0 ? 'aborted' : 'complete')])
  const without = () => pickLeaves(forest.nodes, ['without-retries']).leaves.map(({ sequence }) => sequence)
  // The reply of the first call was lost, so the second one is its retry.
  expect(without()).toEqual([1, 2])
  add('u:a', '3')
  expect(without()).toEqual([1, 3])
})

test('Nodes that no longer exist are no leaves, train no shared tokens, and replace neither a retry nor what was rolled back', () => {
  const { forest, add } = writtenForest()
  add('u:a', '1')
  add('u:a a:1 u:b', '2')
  add('u:a a:1 u:b', 'retry')
  add('u:a a:1 u:c', 'rolled back')
  const of = (living: number[], ...pickers: LeafPicker[]) =>
    sessionSamples(forest.nodes, { pickers, mask: 'once', living: new Set(living) }).samples.map(({ leaf, parts }) => [
      leaf,
      parts.filter(({ trained }) => trained.end > 0).map(({ node }) => node),
    ])
  expect(of([0, 1, 2, 3], 'without-retries', 'without-rolled-back')).toEqual([[3, [0, 3]]])
  expect(of([0, 1, 2], 'without-retries', 'without-rolled-back')).toEqual([[2, [0, 2]]])
  expect(of([0, 1], 'without-retries', 'without-rolled-back')).toEqual([[1, [0, 1]]])
  expect(of([0], 'all')).toEqual([[0, [0]]])
  expect(of([], 'all')).toEqual([])
})

test('The sample of a path with 100,000 calls is read in one pass', () => {
  const length = 100_000
  const nodes = Array.from({ length }, (_, sequence): SessionNode => {
    const attachment = { attached: { kind: 'continued' }, context: CONTEXT, kept: 2 * sequence, accepted: [] } as const
    const messages = history('u:a')
    return {
      ...attachment,
      ...outcome({ ...attachment, messages }, reply('1')),
      messages,
      ...(sequence > 0 && { parent: sequence - 1 }),
      sequence,
      call: sequence,
      choice: 0,
    }
  })
  const { samples } = sessionSamples(nodes, { pickers: ['all'], mask: 'once' })
  expect(samples.map(({ parts }) => parts.length)).toEqual([2 * length])
})
