import { expect, test } from 'vitest'
import { byteId, byteTokenizer } from '#testing/byte-tokenizer.ts'
import { exampleTrajectory } from '#testing/trajectories.ts'
import { growingVocabulary, vocabularyWriter } from './record.ts'

const END = byteId('<|im_end|>')
const PLACEHOLDER = -1
const ids = [...byteTokenizer.encode('aab'), END, PLACEHOLDER, END]

test('A growing vocabulary gets the entries that a writer of new entries gives', () => {
  const trajectory = { ...exampleTrajectory('two-steps'), vocab: {}, model: { tools: [] } }
  const { vocab, specialIds } = vocabularyWriter(trajectory, byteTokenizer)(ids)
  const grown = growingVocabulary(trajectory, byteTokenizer)(ids)
  expect(trajectory.vocab).toEqual(vocab)
  expect([grown.vocab, grown.specialIds]).toEqual([vocab, specialIds])
})

test('A growing vocabulary keeps its texts, and each continuation that shares it reports all ids of its own', () => {
  const example = exampleTrajectory('two-steps')
  const trajectory = { ...example, vocab: { 97: 'another text' }, model: { tools: [] } }
  const [one, other] = [growingVocabulary(trajectory, byteTokenizer), growingVocabulary(trajectory, byteTokenizer)]
  const first = one(ids)
  expect(first.vocab).toEqual({ 97: 'another text', 98: 'b', [END]: '<|im_end|>' })
  expect([first.specialIds, one(ids).specialIds]).toEqual([[END], []])
  const second = other(ids)
  expect([second.vocab, second.specialIds]).toEqual([first.vocab, [END]])
  const known = { ...trajectory, model: { tools: [], tokenizer: { name: '', specialIds: [END] } } }
  expect(growingVocabulary(known as never, byteTokenizer)(ids).specialIds).toEqual([])
})
