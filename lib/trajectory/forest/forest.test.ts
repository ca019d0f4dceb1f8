import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from '#testing/property-runs.ts'
import {
  addPath,
  countForest,
  EMPTY_FOREST,
  type Forest,
  nodesOf,
  type PathSegment,
  pathTo,
  splitNodes,
} from './forest.ts'

const prompt = (...ids: number[]): PathSegment => ({ kind: 'prompt', ids })
const response = (...ids: number[]): PathSegment => ({ kind: 'response', ids })
const plain = (segments: readonly PathSegment[]) => segments.map(({ kind, ids }) => ({ kind, ids: Array.from(ids) }))

/** Returns the segments of a leaf, which the nodes of its path consist of. */
function segmentsOfLeaf(forest: Forest, name: string) {
  const segments: { readonly kind: PathSegment['kind']; readonly ids: number[] }[] = []
  for (const { kind, ids, opensSegment } of pathTo(forest, name) ?? [])
    if (opensSegment) segments.push({ kind, ids: [...ids] })
    else segments.at(-1)?.ids.push(...ids)
  return segments
}

function forestOf(paths: Readonly<Record<string, readonly PathSegment[]>>): Forest {
  return Object.entries(paths).reduce((forest, [name, segments]) => addPath(forest, name, segments), EMPTY_FOREST)
}

/** Draws a forest: nodes of one tree in a line, with their tokens and leaves. */
const draw = (forest: Forest): string =>
  forest.children
    .map(({ kind, ids, leaves, opensSegment, ...node }) => {
      const text = `${opensSegment ? '' : '…'}${Array.from(ids).join(' ')}`
      const inside = draw({ ...node, leaves: [] })
      return `${kind === 'prompt' ? `(${text})` : `[${text}]`}${leaves.join('')}${inside === '' ? '' : ` {${inside}}`}`
    })
    .join(', ')

describe('A forest', () => {
  test('stores the prompt and the first tokens that two samples share only once', () => {
    const forest = forestOf({ A: [prompt(1, 2), response(3, 4, 5)], B: [prompt(1, 2), response(3, 4, 6, 7)] })
    expect(draw(forest)).toBe('(1 2) {[3 4] {[…5]A, […6 7]B}}')
    expect(countForest(forest)).toEqual({ trees: 1, leaves: 2, splits: 1, tokens: 11, distinctTokens: 7 })
  })

  test('has a leaf inside a path if one trajectory continues another', () => {
    const forest = forestOf({ A: [prompt(1), response(2, 3, 4)], B: [prompt(1), response(2)], C: [prompt(1)] })
    expect(draw(forest)).toBe('(1)C {[2]B {[…3 4]A}}')
    expect(splitNodes(forest).map(({ start, ids }) => start + ids.length)).toEqual([1, 2])
  })

  test('begins another tree where the first token, or its kind, differs', () => {
    const forest = forestOf({ A: [prompt(1)], B: [prompt(2)], C: [response(1)] })
    expect(draw(forest)).toBe('(1)A, (2)B, [1]C')
  })

  test('keeps the limits of segments with the same tokens apart', () => {
    const forest = forestOf({ A: [prompt(1, 2)], B: [prompt(1), prompt(2)], C: [prompt(1), response(), prompt(2)] })
    expect(draw(forest)).toBe('(1) {(…2)A, (2)B, [] {(2)C}}')
  })

  test('has no path to a leaf that it does not have', () => {
    expect(pathTo(forestOf({ A: [prompt(1)] }), 'B')).toBeUndefined()
  })

  test('is the same for ids in lists and in typed arrays, and keeps no typed array of its caller', () => {
    const ids = Int32Array.of(1, 2, 3)
    const typed = forestOf({ A: [{ kind: 'prompt', ids }], B: [{ kind: 'prompt', ids: Int32Array.of(1, 2, 4) }] })
    ids.fill(9)
    expect(typed).toEqual(forestOf({ A: [prompt(1, 2, 3)], B: [prompt(1, 2, 4)] }))
  })

  test('has paths with thousands of segments', () => {
    const segments = Array.from({ length: 20_000 }, (_, index) => (index % 2 === 0 ? prompt(index) : response(index)))
    const forest = forestOf({ A: segments, B: [...segments.slice(0, -1), response(1)] })
    expect(countForest(forest)).toMatchObject({ tokens: 40_000, distinctTokens: 20_001, splits: 1 })
  })

  test('refuses a second leaf with the same name', () => {
    expect(() => addPath(forestOf({ A: [prompt(1)] }), 'A', [])).toThrow('the forest has the leaf A')
  })
})

/** Segments of few different ids, so that random paths share prefixes and split anywhere. */
const segment = fc.record({
  kind: fc.constantFrom('prompt' as const, 'response' as const),
  ids: fc.array(fc.integer({ min: 0, max: 2 }), { maxLength: 6 }),
})
const fresh = fc.array(segment, { maxLength: 5 })

/** Paths of which most continue a prefix of an earlier one, as branches do. */
const paths = fc.array(fc.tuple(fc.nat(), fc.nat(), fresh), { maxLength: 8 }).map((steps) => {
  const all: PathSegment[][] = []
  for (const [which, cut, news] of steps) {
    const earlier = all.length > 0 ? (all[which % all.length] ?? []) : []
    all.push([...cutAfter(earlier, cut % (1 + countTokens(earlier))), ...news])
  }
  return all
})

const countTokens = (segments: readonly PathSegment[]) => segments.reduce((count, { ids }) => count + ids.length, 0)

function cutAfter(segments: readonly PathSegment[], tokens: number): PathSegment[] {
  let left = tokens
  return segments.flatMap(({ kind, ids }) => {
    const kept = Array.from(ids).slice(0, left)
    left -= kept.length
    return kept.length > 0 ? [{ kind, ids: kept }] : []
  })
}

/** Writes each token with all that a forest compares. */
const symbols = (segments: readonly PathSegment[]): string[] =>
  segments.flatMap(({ kind, ids }) =>
    ids.length === 0
      ? [`${kind} without tokens`]
      : Array.from(ids, (id, index) => `${kind}${index === 0 ? '+' : ''}${id}`),
  )

const MOST_CASES = { numRuns: runs(2000) }

describe('A random forest', () => {
  test('returns every leaf exactly as it was added, also after all later additions', () => {
    fc.assert(
      fc.property(paths, (all) => {
        let forest = EMPTY_FOREST
        const earlier: Forest[] = []
        for (const [index, segments] of all.entries()) {
          forest = addPath(forest, `leaf ${index}`, segments)
          earlier.push(forest)
        }
        const sent = all.flatMap((segments, index) => earlier.slice(index).map(() => plain(segments)))
        const read = all.flatMap((_, index) =>
          earlier.slice(index).map((version) => segmentsOfLeaf(version, `leaf ${index}`)),
        )
        expect(read).toEqual(sent)
      }),
      MOST_CASES,
    )
  })

  test('stores every shared prefix once: no two continuations begin alike, and no node could be joined to its only one', () => {
    fc.assert(
      fc.property(paths, (all) => {
        const forest = all.reduce((grown, segments, index) => addPath(grown, `${index}`, segments), EMPTY_FOREST)
        for (const { children } of [forest, ...nodesOf(forest)]) {
          const firsts = children.map(({ kind, opensSegment, ids }) => `${kind} ${opensSegment} ${ids[0]}`)
          expect(new Set(firsts).size).toBe(firsts.length)
        }
        for (const { children, leaves } of nodesOf(forest))
          if (children.length === 1 && leaves.length === 0) expect(children[0]?.opensSegment).toBe(true)
        const prefixes = new Set(
          all.flatMap((segments) => {
            const path = symbols(segments)
            return path.map((_, index) => path.slice(0, index + 1).join(' '))
          }),
        )
        const emptyNodes = nodesOf(forest).filter(({ ids }) => ids.length === 0).length
        const { tokens, distinctTokens, leaves } = countForest(forest)
        expect(distinctTokens + emptyNodes).toBe(prefixes.size)
        expect(tokens).toBe(all.reduce((count, segments) => count + countTokens(segments), 0))
        expect(leaves).toBe(all.length)
      }),
      MOST_CASES,
    )
  })

  test('counts the start of each node as the tokens before it on its path', () => {
    fc.assert(
      fc.property(paths, (all) => {
        const forest = all.reduce((grown, segments, index) => addPath(grown, `${index}`, segments), EMPTY_FOREST)
        for (const [index] of all.entries()) {
          let before = 0
          for (const { start, ids } of pathTo(forest, `${index}`) ?? []) {
            expect(start).toBe(before)
            before += ids.length
          }
        }
      }),
    )
  })
})

test('A forest of samples with 20,000 tokens each stores their shared tokens in memory once', () => {
  const shared = Array.from({ length: 20_000 }, (_, index) => index)
  const forest = Array.from({ length: 64 }, (_, index) => index).reduce(
    (grown, index) =>
      addPath(grown, `${index}`, [prompt(...shared.slice(0, 100)), response(...shared.slice(100), index)]),
    EMPTY_FOREST,
  )
  expect(countForest(forest)).toMatchObject({ leaves: 64, distinctTokens: 20_064, splits: 1 })
  const buffers = new Set(nodesOf(forest).map(({ ids }) => ids.buffer))
  expect([...buffers].reduce((bytes, buffer) => bytes + buffer.byteLength, 0)).toBe(4 * 20_064)
})
